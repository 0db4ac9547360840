import ArgumentParser
import ByteClubCore
import Synchronization

/// The command `byteclub restore [PATH] --at TIME`.
struct RestoreCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore files to what they were at a moment.",
        discussion: """
            Everything that was changed or removed on the server since then gets its version of that moment back, as \
            a new version; today's versions stay in the history. What was added later is kept and listed, unless \
            --delete-newer is given. Empty folders are not restored.

            The moment is 2026-11-22T14:03:00Z, '2026-11-22 14:03' in local time, or a time ago as in 2h or 3d.

            Examples:
              byteclub restore --at 2h --dry-run
              byteclub restore Trips/2026 --at '2026-11-22 14:03'
              byteclub restore photos --at 3d
            """)

    @Argument(help: "A note, photo or folder in the shared folder; default: all of it.", completion: .names)
    var path: String?

    @Option(help: ArgumentHelp("The moment to restore.", valueName: "time"))
    var at: String

    @Flag(help: "Print what would be done, and change nothing.")
    var dryRun = false

    @Flag(help: "Remove what was added later; its versions stay in the history.")
    var deleteNewer = false

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print one JSON object per line: event, path and rev; the last one is the summary.")
    var json = false

    func run(in context: Context) async throws {
        let moment = try PastMoment.read(at, in: context)
        let login = try context.login(flags: connection.settings)
        let path = try EntryPath.entry(path, login)
        let printer = RestorePrinter(context: context, folder: login.folder, isDryRun: dryRun, json: json)
        let (isDryRun, deletesNewer) = (dryRun, deleteNewer)
        try await context.withRemote(login, mayTakeLong: true) { remote in
            let restoration = FolderRestoration(
                remote: remote, moment: moment, isDryRun: isDryRun, deletesNewer: deletesNewer, report: printer.report)
            do {
                try await restoration.run(path)
            } catch let error as RemoteError where error.code == .notFound {
                throw Failure(.noInput, "'\(path.name(below: login.folder))' never existed")
            } catch let error as RemoteError where error.code != .cancelled && printer.hasBegun {
                try printer.sum()
                var failure = Failure(error)
                failure.message += "; the rest was not restored"
                if printer.hasChanged { failure.status = .tryAgain }
                throw failure
            }
        }
        try printer.finish()
    }
}

/// Prints the events of a restoration and a summary.
final class RestorePrinter: Sendable {
    /// Files by outcome.
    struct Counts: Encodable, Hashable, Sendable {
        var event = "summary"
        var restored = 0
        var deleted = 0
        var left = 0
        var unchanged = 0
        var failed = 0
    }

    private struct Event: Encodable {
        var event: String
        var path: RemotePath
        var rev: Revision?
        var message: String?
        var code: Int32?
    }

    private let context: Context
    private let folder: RemotePath
    private let isDryRun: Bool
    private let json: Bool
    private let counts = Mutex(Counts())

    init(context: Context, folder: RemotePath, isDryRun: Bool, json: Bool) {
        (self.context, self.folder, self.isDryRun, self.json) = (context, folder, isDryRun, json)
    }

    /// Reports the outcome of one file.
    @Sendable func report(_ path: RemotePath, _ outcome: FolderRestoration.Outcome) throws {
        let name = path.name(below: folder)
        switch outcome {
        case .unchanged: counts.withLock { $0.unchanged += 1 }
        case .restored(let revision):
            counts.withLock { $0.restored += 1 }
            let (event, verb) = isDryRun ? ("would-restore", "would restore") : ("restored", "restored")
            try tell(Event(event: event, path: path, rev: revision), "\(verb) \(name)")
        case .deleted:
            counts.withLock { $0.deleted += 1 }
            let (event, verb) = isDryRun ? ("would-delete", "would remove") : ("deleted", "removed")
            try tell(Event(event: event, path: path), "\(verb) \(name), added later")
        case .newer:
            counts.withLock { $0.left += 1 }
            try tell(Event(event: "left", path: path), "kept \(name), added later")
        case .failed(let failure):
            counts.withLock { $0.failed += 1 }
            context.note("'\(name)' was not restored: \(failure.message)")
            if json {
                let message = Failure.line(failure.message)
                try context.output.write(
                    JSON.line(Event(event: "failed", path: path, message: message, code: failure.status.rawValue)))
            }
        }
    }

    private func tell(_ event: Event, _ line: String) throws {
        if json { return try context.output.write(JSON.line(event)) }
        try context.output.line(context.style.lines([line]))
    }

    /// Whether any file has been processed.
    var hasBegun: Bool { counts.withLock { $0 != Counts() } }

    /// Whether any file was restored or removed.
    var hasChanged: Bool { !isDryRun && counts.withLock { $0.restored + $0.deleted > 0 } }

    /// Prints the summary.
    ///
    /// - Throws: A silent ``Failure`` when a file was not restored.
    func finish() throws {
        try sum()
        if counts.withLock({ $0.failed }) > 0 { throw Failure.silent(.tryAgain) }
    }

    /// Prints the summary.
    func sum() throws {
        let counts = counts.withLock { $0 }
        if json {
            try context.output.write(JSON.line(counts))
        } else {
            var parts = ["\(counts.restored) \(isDryRun ? "to restore" : "restored")"]
            if counts.deleted > 0 { parts.append("\(counts.deleted) \(isDryRun ? "to remove" : "removed")") }
            if counts.left > 0 { parts.append("\(counts.left) kept that were added later") }
            parts.append("\(counts.unchanged) unchanged")
            if counts.failed > 0 { parts.append("\(counts.failed) failed") }
            try context.output.line(context.style.lines([parts.joined(separator: ", ")]))
        }
    }
}
