import ArgumentParser
import ByteClubCore

/// The command `byteclub unlink DIR`.
struct UnlinkCommand: MirrorCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlink",
        abstract: "Stop mirroring a directory; its files stay.",
        discussion: """
            Removes this machine's record of the mirror and its service. The mirror's trash stays. Nothing changes on \
            the server or in other mirrors.

            Example:
              byteclub unlink ~/club
            """)

    @Argument(help: ArgumentHelp("The mirror.", valueName: "dir"), completion: .names)
    var directory: String

    @OptionGroup var outputOptions: OutputOptions

    /// The unlinked mirror.
    struct Result: CommandResult {
        var directory: String
        /// Local changes that were never synced; they remain only in the directory.
        var pending: Int
        /// Whether the trash is kept because it is not empty.
        var keepsTrash: Bool

        func text(_ style: TextStyle) -> String {
            var lines = ["\(directory) is no longer a mirror; its files are unchanged"]
            if pending > 0 { lines.append("\(pending) not synced, in this directory only") }
            if keepsTrash { lines.append("removed and replaced files are still in '\(directory)/.byteclub/trash'") }
            return lines.map(Failure.line).joined(separator: "\n")
        }
    }

    func run(in context: Context, with engine: any MirrorEngine.Type) async throws {
        let place = try MirrorPlace(directory, context)
        guard place.isKnown else {
            throw Failure(.noInput, "'\(place.directory)' is not a mirror; 'byteclub mirrors' lists them")
        }
        let service = MirrorService(of: place, context)
        _ = try await BlockingWork.run { try service.uninstall() }
        let pending = (try? engine.status(of: place.configuration).pending) ?? 0
        let keepsTrash = try place.unlink(engine)
        try context.print(
            Result(directory: place.directory, pending: pending, keepsTrash: keepsTrash), json: outputOptions.json)
    }
}
