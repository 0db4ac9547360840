import ArgumentParser
import ByteClubCore

/// Does what `byteclub status [DIR]` asks for.
struct StatusCommand: MirrorCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tell how a mirror stands, without touching mirror or server.",
        discussion: """
            Example:
              byteclub status ~/club --json
            """)

    @Argument(
        help: ArgumentHelp("The mirror; else the one that was synced last.", valueName: "dir"),
        completion: .directory)
    var directory: String?

    @OptionGroup var outputOptions: OutputOptions

    /// How a mirror stands.
    struct Result: CommandResult {
        var directory: String
        var status: SyncStatus

        func text(_ style: TextStyle) -> String {
            guard status.isKnown else { return "\(directory) was never synced" }
            let last = status.lastSync.map { "last in sync \(style.calendar($0))" } ?? "never in sync yet"
            var lines = [
                "\(directory): \(Self.count(status.files, "file")) in \(Self.count(status.folders, "folder")), "
                    + "\(HumanSize.text(status.bytes)), \(last)"
            ]
            if status.pending > 0 { lines.append("to do: \(status.pending)") }
            if status.isPaused {
                lines.append("paused" + (status.pausedUntil.map { " until \(style.calendar($0))" } ?? ""))
            }
            if let obstacle = status.obstacle {
                lines.append("in the way: \(obstacle.message), since \(style.calendar(obstacle.since))")
            }
            if let watching = status.watching { lines.append("watching: \(watching)") }
            lines += status.problems.map { "problem: \($0.path): \($0.message)" }
            lines += status.held.map {
                "held: \($0.path) would be removed \($0.side == "local" ? "here" : "on the server")"
            }
            lines += status.conflicts.map {
                "conflict: \($0.path), copy \($0.copy), \(style.calendar($0.at))"
            }
            return lines.map(Failure.line).joined(separator: "\n")
        }

        private static func count(_ number: Int, _ noun: String) -> String {
            "\(number) \(noun)\(number == 1 ? "" : "s")"
        }
    }

    func run<Engine: MirrorEngine>(in context: Context, with _: Engine.Type) async throws {
        let place = try MirrorPlace(directory, context)
        let status = try Engine.status(of: place.configuration)
        try context.print(Result(directory: place.directory, status: status), json: outputOptions.json)
        if status.isKnown, !LocalFile.isDirectory(place.directory) {
            throw Failure(.noInput, "the mirror '\(place.directory)' is gone")
        }
    }
}
