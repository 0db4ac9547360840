import ByteClubCore

/// Reads the club's log from the server and prints it.
struct ClubLogReading: Sendable {
    /// The time that one request waits for changes.
    private static let wait = Duration.seconds(60)

    /// The most changes to fetch at once.
    private static let most = 100_000

    let context: Context
    let folder: RemotePath
    let json: Bool

    /// The longest pause between retries.
    private static let longestPause = Duration.seconds(30)

    /// Prints the last changes, newest last; with `follow` then each new one, across outages of the server.
    ///
    /// - Throws: A ``Failure`` 78 for a server without a log, and errors of requests.
    func run(_ remote: any Remote, limit: Int, follow: Bool) async throws {
        guard let history = try await remote.powers().history else {
            throw Failure(.configuration, "this server does not support the club's log")
        }
        var (changes, last) = try await Self.newest(limit, after: nil, history)
        if !follow {
            try context.print(ClubLog(changes: changes.reversed(), folder: folder), json: json)
            if changes.isEmpty { context.noteEmpty("no changes yet") }
            return
        }
        var failures = 0
        var isFirst = true
        while true {
            try tell(changes.reversed(), hasTitles: isFirst)
            if !changes.isEmpty { isFirst = false }
            do {
                (changes, last) = try await Self.next(after: last, history)
                if failures > 0 { context.note("the server is back") }
                failures = 0
            } catch let error as RemoteError where error.isRetryable {
                if failures == 0 { context.note("\(error.message); retrying until the server answers") }
                changes = []
                try await Task.sleep(for: min(.seconds(1 << min(failures, 5)), Self.longestPause))
                failures += 1
            }
        }
    }

    /// Waits until something happens.
    private static func next(
        after last: Int64, _ history: any HistoryRemote
    ) async throws -> (changes: [HistoryChange], last: Int64) {
        let page = try await history.history(before: nil, after: last, limit: 1, wait: wait)
        if page.sequence > last { return try await newest(most, after: last, history) }
        // A server restored from a backup counts from a lower number.
        try await Task.sleep(for: .milliseconds(200))
        return ([], page.sequence)
    }

    private func tell(_ changes: [HistoryChange], hasTitles: Bool) throws {
        if !json {
            return try context.print(ClubLog(changes: changes, folder: folder, hasTitles: hasTitles), json: false)
        }
        for change in changes { try context.output.write(JSON.line(ClubLog.Entry(change))) }
    }

    /// The newest changes after a number, and the number of the last change.
    private static func newest(
        _ limit: Int, after: Int64?, _ remote: any HistoryRemote
    ) async throws -> (changes: [HistoryChange], last: Int64) {
        var (changes, last): ([HistoryChange], Int64?) = ([], nil)
        var before: Int64?
        repeat {
            let page = try await remote.history(
                before: before, after: after, limit: min(HistoryPage.mostChanges, limit - changes.count), wait: .zero)
            if let next = page.before, next >= before ?? .max {
                throw Failure(.protocolViolation, "the server repeats the club's log without end")
            }
            changes += page.changes
            last = last ?? page.sequence
            before = page.before
        } while before != nil && changes.count < limit
        return (changes, last ?? 0)
    }
}

/// Changes by members; as JSON an array of ``Entry``s.
struct ClubLog: CommandResult {
    /// The JSON object of a change.
    struct Entry: Encodable, Sendable {
        var seq: Int64
        /// The server's time of the change, as RFC 3339 in UTC.
        var time: String
        var author: String
        var what: String
        var path: RemotePath
        /// The old path of a move; absent for other changes.
        var from: RemotePath?
        var type: EntryObject.Kind

        /// Converts a change from the server.
        init(_ change: HistoryChange) {
            seq = change.sequence
            time = CalendarTime.utc(change.modified).rfc3339
            author = change.member
            what = change.action.rawValue
            path = change.path
            from = change.origin
            type = change.isFolder ? .folder : .file
        }
    }

    /// The changes in the order of printing.
    var changes: [HistoryChange]
    /// The folder that names are relative to.
    var folder: RemotePath
    /// Whether a terminal shows column titles.
    var hasTitles = true
    var isVisible: Bool { true }

    /// Time, member, action and path in columns; elsewhere separated by tabs, with the old path last.
    func text(_ style: TextStyle) -> String {
        var table = TextTable(
            .init("TIME", rank: 2), .init("MEMBER", rank: 1), .init("WHAT"), .init("PATH", isShortened: true),
            .init())
        table.hasTitles = hasTitles
        table.rows = changes.map { change in
            let end = change.isFolder ? "/" : ""
            let path = change.path.name(below: folder) + end
            let origin = change.origin.map { $0.name(below: folder) + end }
            let place = style.columns == nil ? path : (origin.map { $0 + " → " } ?? "") + path
            return [
                style.time(change.modified), style.member(change.member), change.action.rawValue, place,
            ] + (style.columns == nil ? [origin ?? ""] : [])
        }
        return style.list(table)
    }

    func encode(to encoder: any Encoder) throws { try changes.map(Entry.init).encode(to: encoder) }
}

extension HistoryChange {
    /// The member's name; the number when the server does not send the name.
    fileprivate var member: String { authorName ?? "member \(author)" }
}
