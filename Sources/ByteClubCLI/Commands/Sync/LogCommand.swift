import ArgumentParser
import ByteClubCore

/// Does what `byteclub log [PATH]` asks for.
struct LogCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Tell what syncing did, of a mirror or of one path in it.",
        discussion: """
            The newest events come last; the log keeps 100,000.

            Examples:
              byteclub log
              byteclub log Trips --limit 200 --json
            """)

    @Argument(help: "A file or folder in the mirror; a folder stands for all in it.", completion: .file())
    var path: String?

    @Option(help: "The most events to tell, 1 to 100000.")
    var limit = 50

    @OptionGroup var mirrorOptions: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions
    var mirror: String? { mirrorOptions.mirror }
    var subject: String? { path }

    func validate() throws {
        guard (1...100_000).contains(limit) else { throw ValidationError("--limit must be 1 to 100000") }
    }

    /// The events of a mirror.
    struct Answer: CommandResult {
        var directory: String
        var path: String?
        var events: [SyncLogEntry]

        func text(_ style: TextStyle) -> String {
            var table = Table(.left, .left, .left)
            table.rows = events.map { event in
                let what = [event.path, event.detail ?? event.rule.map { "(\($0))" }].compactMap { $0 }
                return ["\(style.calendar(event.at))", event.event, what.joined(separator: "  ")]
            }
            return table.text
        }
    }

    func answer<Engine: MirrorEngine>(_: Engine.Type, of place: MirrorPlace, _ context: Context) throws -> Answer {
        var below = try path.map { try place.relative($0) }
        if below?.isEmpty == true { below = nil }
        let events = try Engine.log(of: place.configuration, below: below, limit: limit)
        return Answer(directory: place.directory, path: below, events: events)
    }
}
