import ArgumentParser
import ByteClubCore

/// The command `byteclub sync revert [PATH]`.
struct SyncRevertCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Revert changes of a mirror that are not on the server.",
        discussion: """
            Use it when your role does not allow your changes, or to get the server's files back. New and edited \
            files go to the mirror's trash; renamed and moved ones go back to their old place. The next sync \
            downloads what was edited or deleted. Stop a running sync first.

            Examples:
              byteclub sync revert --dry-run
              byteclub sync revert
              byteclub sync revert Trips/plan.md
            """)

    @Argument(
        help: "A file or folder in the mirror; default: the whole mirror.",
        completion: .file())
    var path: String?

    @OptionGroup var dryRunOption: DryRunOption
    @OptionGroup var mirror: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions
    var subject: String? { path }

    /// The reverted changes.
    struct Answer: CommandResult {
        var directory: String
        var changes: [LocalChange]
        var isDryRun: Bool

        func text(_ style: TextStyle) -> String {
            if changes.isEmpty { return "no local changes to revert" }
            var lines = ListedLines.first(changes) { change in
                let path = change.path + (change.isFolder ? "/" : "")
                switch (change.kind, isDryRun) {
                case (.new, false): return "\(path): new, moved to the trash"
                case (.new, true): return "\(path): new, would be moved to the trash"
                case (.edited, false): return "\(path): edited, moved to the trash"
                case (.edited, true): return "\(path): edited, would be moved to the trash"
                case (.moved, _):
                    return "\(path): moved, \(isDryRun ? "would go" : "went") back to \(change.from ?? path)"
                case (.deleted, _): return "\(path): deleted, \(isDryRun ? "would be" : "will be") downloaded again"
                }
            }
            if !isDryRun {
                lines.append("the next sync downloads the server's files")
                if changes.contains(where: { $0.kind == .new || $0.kind == .edited }) {
                    lines.append("your files are in '\(directory)/.byteclub/trash'")
                }
            }
            return lines.map(Failure.line).joined(separator: "\n")
        }
    }

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> Answer {
        let path = try path.map { try place.relative($0) } ?? ""
        let changes = try engine.revert(path, of: place.configuration, isDryRun: dryRunOption.dryRun)
        if changes.isEmpty, !path.isEmpty, try engine.explain(path, of: place.configuration).isEmpty {
            throw Failure(.noInput, "no '\(path)' in the mirror or on the server")
        }
        return Answer(directory: place.directory, changes: changes, isDryRun: dryRunOption.dryRun)
    }
}
