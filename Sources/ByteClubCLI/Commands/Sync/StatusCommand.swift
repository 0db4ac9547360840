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
            guard status.isKnown else { return Failure.line("\(directory) was never synced") }
            let last = status.lastSync.map { "last in sync \(style.calendar($0))" } ?? "never in sync yet"
            var lines = [
                "\(directory): \(Self.count(status.files, "file")) in \(Self.count(status.folders, "folder")), "
                    + "\(HumanSize.text(status.bytes)), \(last)"
            ]
            lines.append(status.isRunning ? "a sync runs" : "no sync runs now; 'byteclub sync' starts one")
            if status.pending > 0 { lines.append("to do: \(status.pending)") }
            if status.isPaused {
                let end = status.pausedUntil.map { " until \(style.calendar($0))" } ?? ""
                lines.append("paused\(end); 'byteclub sync resume' goes on")
            }
            if let obstacle = status.obstacle {
                lines.append("in the way: \(obstacle.message), since \(style.calendar(obstacle.since))")
            }
            if let ignored = status.ignored.text { lines.append("\(ignored); see .byteclubignore") }
            if let watching = status.watching { lines.append("watching: \(watching)") }
            lines += Self.first(status.problems) { "problem: \($0.path): \($0.message)" }
            lines += Self.first(status.held) {
                "held: \($0.path) would be removed \($0.side == "local" ? "here" : "on the server")"
            }
            if let rules = status.heldRules {
                lines.append("held: .byteclubignore: \(rules.text); until you decide, those before it hold")
            }
            if !status.held.isEmpty || status.heldRules != nil {
                lines.append("to decide: 'byteclub sync deletes approve' carries that out, 'restore' brings it back")
            }
            lines += Self.first(status.conflicts) { "conflict: \($0.path), copy \($0.copy), \(style.calendar($0.at))" }
            if !status.conflicts.isEmpty {
                lines.append("to settle: 'byteclub conflicts show PATH' compares, 'resolve PATH --keep SIDE' settles")
            }
            return lines.map(Failure.line).joined(separator: "\n")
        }

        /// The most entries of a kind that are listed one by one.
        private static let limit = 20

        /// A line for each of the first, and one for all others.
        private static func first<Entry>(_ entries: [Entry], _ line: (Entry) -> String) -> [String] {
            let lines = entries.prefix(limit).map(line)
            let more = entries.count - lines.count
            return more > 0 ? lines + ["and \(more) more; --json tells all"] : lines
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
