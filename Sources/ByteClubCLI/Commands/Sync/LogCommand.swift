import ArgumentParser
import ByteClubCore

/// The command `byteclub log [PATH]`.
struct LogCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the log of a mirror, or of the whole club.",
        discussion: """
            The newest events come last. For a mirror, or a path in it, shows the events of its syncs, of which the \
            log keeps 100,000. With --club it shows what members did: time, member, action and path. To a pipe or \
            file these are separated by tabs, with times in RFC 3339 and, for moves, the old path last. With --club \
            --json a change is an object with seq, time, author, what (added, edited, moved, removed or restored), \
            path, from (the old path of a move) and type (file or folder).

            Examples:
              byteclub log
              byteclub log Trips --limit 200 --json
              byteclub log --follow
              byteclub log --club --follow
            """)

    static func networkUse(of arguments: [String]) -> NetworkUse { arguments.contains("--club") ? .full : .none }

    @Argument(help: "A file or folder in the mirror; a folder includes everything in it.", completion: .names)
    var path: String?

    @Option(help: "Show at most this many events, 1 to 100000.")
    var limit = 50

    @Flag(help: "Show what members did in the club.")
    var club = false

    @Flag(help: "Keep showing new events until Ctrl-C; --json prints one object per line.")
    var follow = false

    @OptionGroup var mirror: MirrorOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions
    var subject: String? { path }

    func validate() throws {
        guard (1...100_000).contains(limit) else { throw ValidationError("--limit must be 1 to 100000") }
        if club, path != nil || mirror.directory != nil {
            throw ValidationError("--club takes no path and no --mirror")
        }
        if !club, connection.settings != Settings() { throw ValidationError("connection options require --club") }
    }

    func run(in context: Context) async throws {
        // A pager would wait for the end.
        let context = follow ? context.withoutPager : context
        guard club else { return try await runWithEngine(in: context) }
        let login = try context.login(flags: connection.settings)
        let reading = ClubLogReading(context: context, folder: login.folder, json: outputOptions.json)
        let (limit, follow) = (limit, follow)
        try await context.withRemote(login, mayTakeLong: follow) {
            try await reading.run($0, limit: limit, follow: follow)
        }
    }

    func run(in context: Context, with engine: any MirrorEngine.Type) async throws {
        let place = try MirrorPlace(mirror.directory, around: subject, context)
        try place.requireSynced()
        let first = try answer(engine, of: place)
        if !follow { return try context.print(first, json: outputOptions.json) }
        let (json, limit) = (outputOptions.json, 100_000)
        try await context.interrupts.cancelling {
            var answer = first
            var last: Int64?
            while true {
                answer.hasTitles = last == nil
                if json {
                    for event in answer.events { try context.output.write(JSON.line(event)) }
                } else {
                    try context.print(answer, json: false)
                }
                last = answer.events.last?.seq ?? last
                try await Task.sleep(for: Self.interval)
                answer.events = try engine.log(
                    of: place.configuration, below: answer.path, after: last ?? 0, limit: limit)
            }
        }
    }

    /// How often the log is looked at again.
    private static let interval = Duration.milliseconds(500)

    /// The events of a mirror.
    struct Answer: CommandResult {
        var directory: String
        var path: String?
        var events: [SyncLogEntry]
        /// Whether a terminal shows column titles.
        var hasTitles = true
        var isVisible: Bool { true }

        private enum CodingKeys: String, CodingKey { case directory, path, events }

        func text(_ style: TextStyle) -> String {
            var table = TextTable(
                .init("TIME", rank: 2), .init("WHAT"), .init("PATH", isShortened: true),
                .init("WHY", isShortened: true, rank: 1))
            table.hasTitles = hasTitles
            table.rows = events.map { event in
                let why = event.detail ?? event.rule?.replacing("-", with: " ")
                return [style.moment(event.at), EventLine.words(event.event), event.path, why ?? ""]
            }
            return style.list(table)
        }
    }

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> Answer {
        var below = try path.map { try place.relative($0) }
        if below?.isEmpty == true { below = nil }
        let events = try engine.log(of: place.configuration, below: below, after: nil, limit: limit)
        return Answer(directory: place.directory, path: below, events: events)
    }
}
