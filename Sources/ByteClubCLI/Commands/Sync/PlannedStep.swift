import ByteClubCore

/// One step of a sync that was only asked for.
struct PlannedStep: Encodable, Hashable, Sendable {
    /// The event that the step would be.
    var event: String
    /// The entry's path relative to the mirror's root.
    var path: String
    /// Where it would be moved from.
    var from: String?
    /// Where this machine's side of a conflict would go.
    var copy: String?
    /// Always true: nothing was done.
    var planned = true

    /// Describes a step by the event that it would be.
    init(_ event: SyncEvent) {
        self.event = event.event.rawValue
        path = event.path ?? ""
        from = event.from
        copy = event.copy
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
        case "move-local": return "would move here \(Failure.line(from ?? "")) to \(shown)"
        case "move-remote": return "would move on the server \(Failure.line(from ?? "")) to \(shown)"
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
