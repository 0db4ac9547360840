import ArgumentParser
import ByteClubCore

/// The command `byteclub why PATH`.
struct WhyCommand: MirrorCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain the state of a file or folder of a mirror, and what blocks it.",
        discussion: """
            Shows the last known state on disk, on the server, and the last state in which both were equal; the rule \
            that applies, the next step, and what blocks it. Reads only the mirror's database and checks whether the \
            disk still matches it.

            Exit codes: 0 the path is known, 66 not found, 74 the mirror's database cannot be read.

            Examples:
              byteclub why Trips/plan.md
              byteclub why ~/club/ridge.jpg --json
            """)

    @Argument(help: "The file or folder in the mirror.", completion: .names)
    var path: String

    @OptionGroup var mirror: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions

    /// Explanations of the entries at a path.
    struct Result: CommandResult {
        var directory: String
        var path: String
        var entries: [SyncExplanation]

        func text(_ style: TextStyle) -> String {
            entries.map { Self.text($0, style) }.joined(separator: "\n")
        }

        private static func text(_ entry: SyncExplanation, _ style: TextStyle) -> String {
            var table = TextTable(.init(), .init())
            table.rows = [
                ["disk", row(entry.disk, style)], ["server", row(entry.server, style)],
                ["last synced", row(entry.synced, style)],
            ]
            if let rule = entry.rule { table.rows.append(["rule", rule]) }
            table.rows += entry.next.map { ["next", $0] }
            table.rows += entry.blockers.map { [entry.state == .excluded ? "excluded" : "blocked by", $0] }
            table.rows += entry.notes.map { ["note", $0] }
            if let time = entry.nextAttempt { table.rows.append(["next attempt", "\(style.calendar(time))"]) }
            let path = entry.path.isEmpty ? "the mirror's root" : entry.path
            return style.lines(["\(path): \(words(entry.state))"]) + "\n" + style.facts(table)
        }

        private static func words(_ state: SyncExplanation.State) -> String {
            switch state {
            case .inSync: "in sync"
            case .pending: "pending"
            case .underWay: "transferring"
            case .blocked: "waiting"
            case .excluded: "excluded"
            }
        }

        private static func row(_ row: SyncExplanation.Row?, _ style: TextStyle) -> String {
            guard let row else { return "-" }
            var parts = [row.path + (row.isFolder ? "/" : "")]
            if let size = row.size { parts.append("\(size) bytes") }
            if !row.isFolder { parts.append("hash \(row.hash.map { String($0.prefix(8)) } ?? "unknown")") }
            if let revision = row.revision, !row.isFolder { parts.append("revision \(revision)") }
            if let modified = row.modified { parts.append("written \(style.calendar(modified))") }
            return parts.joined(separator: ", ")
        }
    }

    func run(in context: Context, with engine: any MirrorEngine.Type) async throws {
        let place = try MirrorPlace(mirror.directory, around: path, context)
        let path = try place.relative(path)
        let entries = try engine.explain(path, of: place.configuration)
        if !entries.isEmpty || outputOptions.json {
            try context.print(
                Result(directory: place.directory, path: path, entries: entries), json: outputOptions.json)
        }
        if entries.isEmpty {
            let last = try engine.log(of: place.configuration, below: path, after: nil, limit: 1).last
            let when = last.map { "; last logged event: \($0.event), \(context.calendar($0.at))" } ?? ""
            throw Failure(.noInput, "no '\(path)' in the mirror or on the server\(when)")
        }
    }
}
