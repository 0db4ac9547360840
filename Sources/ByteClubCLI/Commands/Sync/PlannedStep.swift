import ByteClubCore

/// One step of a sync that was only asked for.
struct PlannedStep: Encodable, Hashable, Sendable {
    /// The event that the step would be.
    var event: String
    /// The entry's path in the shared tree.
    var path: String
    /// Where this machine's side of a conflict would go.
    var copy: String?
    /// Always true: nothing was done.
    var planned = true

    /// Describes a step; nil for bookkeeping.
    init?(_ step: Step) {
        switch step {
        case .adopt, .forget: return nil
        case .createLocalFolder(let remote): (event, path) = ("mkdir-local", remote.path.string)
        case .createRemoteFolder(let local): (event, path) = ("mkdir-remote", local.path.string)
        case .download(let remote, _): (event, path) = ("download", remote.path.string)
        case .upload(let local, _): (event, path) = ("upload", local.path.string)
        case .deleteLocal(let local): (event, path) = ("delete-local", local.path.string)
        case .deleteRemote(let remote, _): (event, path) = ("delete-remote", remote.path.string)
        case .keepBoth(let local, _, let copy):
            (event, path) = ("conflict", local.path.string)
            self.copy = copy.string
        }
    }

    /// One line for people.
    var text: String {
        let shown = Failure.line(path)
        switch event {
        case "mkdir-local": return "would make here \(shown)/"
        case "mkdir-remote": return "would make on the server \(shown)/"
        case "download": return "would download \(shown)"
        case "upload": return "would upload \(shown)"
        case "delete-local": return "would remove here \(shown)"
        case "delete-remote": return "would remove on the server \(shown)"
        default: return "would keep both sides of \(shown), this machine's as \(Failure.line(copy ?? ""))"
        }
    }
}

/// The last line of a dry run in JSON.
struct PlannedSummary: Encodable, Sendable {
    var event = "summary"
    /// How many steps a sync would take.
    var planned: Int
}
