import ByteClubCore
import Synchronization

/// Prints what happens while syncing: changes to standard output, the rest to standard error; or all of it as JSON.
final class SyncPrinter: Sendable {
    private struct State {
        var hasSummary = false
        var failure: (any Error)?
    }

    private let context: Context
    private let json: Bool
    private let state = Mutex(State())

    init(context: Context, json: Bool) {
        self.context = context
        self.json = json
    }

    /// Prints one event; what goes wrong is told at the end.
    func take(_ event: SyncEvent) {
        do {
            if event.event == .summary { state.withLock { $0.hasSummary = true } }
            if json { return try context.output.write(JSON.line(event)) }
            switch event.event {
            case .problem, .held, .summary:
                if let text = Self.text(event) { context.note(text) }
            default:
                if let text = Self.text(event) { try context.output.line(Failure.line(text)) }
            }
        } catch {
            state.withLock { if $0.failure == nil { $0.failure = error } }
        }
    }

    /// Prints what would be done; tells whether that is nothing.
    func print(_ events: [SyncEvent]) throws -> Bool {
        let planned = events.map { PlannedStep($0) }
        for step in planned {
            if json { try context.output.write(JSON.line(step)) } else { try context.output.line(step.text) }
        }
        if json {
            try context.output.write(JSON.line(PlannedSummary(planned: planned.count)))
            state.withLock { $0.hasSummary = true }
        } else {
            context.note(planned.isEmpty ? "nothing to do" : "\(planned.count) changes to make")
        }
        return true
    }

    /// Makes sure that the last line in JSON is a summary, and throws what went wrong while printing.
    func finish(_ failure: Failure?) throws {
        let state = state.withLock { state in
            defer { state.hasSummary = true }
            return (hasSummary: state.hasSummary, failure: state.failure)
        }
        if let failure = state.failure { throw failure }
        if json, !state.hasSummary {
            let message = failure.map { Failure.line($0.message) }
            try context.output.write(JSON.line(SyncEvent(.summary, message: message, summary: SyncSummary())))
        }
    }

    /// One line for people; nil for what they need not know.
    static func text(_ event: SyncEvent) -> String? {
        let path = event.path ?? ""
        switch event.event {
        case .download: return "downloaded \(path)"
        case .upload: return "uploaded \(path)"
        case .deleteLocal: return "removed here \(path)"
        case .deleteRemote: return "removed on the server \(path)"
        case .makeLocalFolder: return "made here \(path)/"
        case .makeRemoteFolder: return "made on the server \(path)/"
        case .moveLocal: return "moved here \(event.from ?? "") to \(path)"
        case .moveRemote: return "moved on the server \(event.from ?? "") to \(path)"
        case .merge: return "merged \(path)"
        case .conflict: return "conflict \(path): this machine's text is in \(event.copy ?? "a copy beside it")"
        case .problem: return (path.isEmpty ? "" : "\(path): ") + (event.message ?? "left alone")
        case .held:
            return
                "\(path.isEmpty ? "deletions" : path): \(event.message ?? "a deletion is held; allow it with --force-deletes")"
        case .progress, .idle: return nil
        case .summary: return event.summary.map(text)
        }
    }

    /// A summary's line.
    static func text(_ summary: SyncSummary) -> String {
        var parts: [String] = []
        let add = { (count: Int, what: String) in if count > 0 { parts.append("\(count) \(what)") } }
        add(summary.uploaded, "uploaded")
        add(summary.downloaded, "downloaded")
        add(summary.deletedLocal, "removed here")
        add(summary.deletedRemote, "removed on the server")
        add(summary.movedLocal, "moved here")
        add(summary.movedRemote, "moved on the server")
        add(summary.merged, "merged")
        add(summary.conflicts, summary.conflicts == 1 ? "conflict" : "conflicts")
        add(summary.held, summary.held == 1 ? "deletion held" : "deletions held")
        add(summary.problems, "left alone")
        let done = parts.isEmpty ? "nothing to do" : parts.joined(separator: ", ")
        return (summary.isComplete ? "in sync: " : "not in sync yet: ") + done
    }
}
