import ArgumentParser
import ByteClubCore

/// Does what `byteclub sync revert [PATH]` asks for.
struct SyncRevertCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Revert changes of a mirror that are not on the server.",
        discussion: """
            For those whose role does not allow their changes, and for all who want the server's files again. What is new \
            here or was edited goes into the mirror's trash; what was renamed or moved goes back. The next sync downloads \
            what was edited or deleted. A sync that runs must be ended first.

            Examples:
              byteclub sync revert --dry-run
              byteclub sync revert
              byteclub sync revert Trips/plan.md
            """)

    @Argument(
        help: "The entry in the mirror, a folder with all that is in it; the whole mirror unless given.",
        completion: .file())
    var path: String?

    @OptionGroup var dryRunOption: DryRunOption
    @OptionGroup var mirrorOptions: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions
    var mirror: String? { mirrorOptions.mirror }
    var subject: String? { path }

    /// What was taken back.
    struct Answer: CommandResult {
        var directory: String
        var changes: [LocalChange]
        var isDryRun: Bool

        func text(_ style: TextStyle) -> String {
            if changes.isEmpty { return "nothing has changed here that the server does not have" }
            var lines = ListedLines.first(changes) { change in
                let path = change.path + (change.isFolder ? "/" : "")
                switch (change.kind, isDryRun) {
                case (.new, false): return "\(path): new, in the trash now"
                case (.new, true): return "\(path): new, would go into the trash"
                case (.edited, false): return "\(path): edited, in the trash now"
                case (.edited, true): return "\(path): edited, would go into the trash"
                case (.moved, _): return "\(path): moved, \(isDryRun ? "would be" : "is") \(change.from ?? path) again"
                case (.deleted, _): return "\(path): deleted, \(isDryRun ? "would come" : "comes") again"
                }
            }
            if !isDryRun {
                lines.append("the next sync brings what the server has")
                if changes.contains(where: { $0.kind == .new || $0.kind == .edited }) {
                    lines.append("what was taken away is in '\(directory)/.byteclub/trash'")
                }
            }
            return lines.map(Failure.line).joined(separator: "\n")
        }
    }

    func answer<Engine: MirrorEngine>(_: Engine.Type, of place: MirrorPlace, _ context: Context) throws -> Answer {
        let path = try path.map { try place.relative($0) } ?? ""
        let changes = try Engine.revert(path, of: place.configuration, isDryRun: dryRunOption.dryRun)
        if changes.isEmpty, !path.isEmpty, try Engine.explain(path, of: place.configuration).isEmpty {
            throw Failure(.noInput, "neither the mirror nor the server has '\(path)'")
        }
        return Answer(directory: place.directory, changes: changes, isDryRun: dryRunOption.dryRun)
    }
}
