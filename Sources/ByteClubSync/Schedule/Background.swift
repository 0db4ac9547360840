import ByteClubCore

/// The work of a continuous session beside its steps: long polls, audits, and checks for late writes.
struct Background: Sendable {
    var polls = PollSchedule()
    var audits: AuditSchedule
    /// When displaced files are checked next for late writes, as each check of the root does.
    var lateCheckAt: SyncInstant?

    /// When some of it is due next; a disk that settles puts audits off.
    func deadline(isSettling: Bool) -> SyncInstant? {
        [polls.pullAt, lateCheckAt, isSettling ? nil : audits.due].compactMap(\.self).min()
    }
}

/// When the long poll for the server's changes is started again.
struct PollSchedule: Sendable {
    private enum State {
        case resting
        case polling
        /// A page of the journal has arrived, and is not applied yet.
        case answered(SyncChanges, after: String)
        /// The poll failed, and the feed is pulled at this time.
        case failed(pullAt: SyncInstant)
    }

    private var state = State.resting
    /// How many polls in a row have failed.
    private var failures = 0

    /// Whether a poll can be started now.
    var isDue: Bool { if case .resting = state { true } else { false } }

    /// Whether a page has arrived that is not applied yet.
    var hasPage: Bool { if case .answered = state { true } else { false } }

    /// When the feed is pulled after polls that failed; nil when the last one did not.
    var pullAt: SyncInstant? { if case .failed(let time) = state { time } else { nil } }

    /// Notes that a poll has started.
    mutating func started() { state = .polling }

    /// Notes that the poll under way, if there is one, was cancelled.
    mutating func cancelled() { if case .polling = state { state = .resting } }

    /// Notes that a poll has ended with an answer, and keeps the page that came with it.
    mutating func answered(_ page: (changes: SyncChanges, after: String)? = nil) {
        failures = 0
        state = page.map { .answered($0.changes, after: $0.after) } ?? .resting
    }

    /// Notes that a poll has failed: the server is away, or refuses the cursor, and a pull finds out which.
    mutating func failed(at now: SyncInstant) {
        failures += 1
        state = .failed(pullAt: now + Backoff.session.delay(after: failures))
    }

    /// Removes and returns the page that has arrived; nil when there is none.
    mutating func takePage() -> (changes: SyncChanges, after: String)? {
        guard case .answered(let changes, let cursor) = state else { return nil }
        state = .resting
        return (changes, cursor)
    }

    /// Whether the feed must be pulled now, after a poll that failed.
    mutating func takePull(at now: SyncInstant) -> Bool {
        guard let pullAt, pullAt <= now else { return false }
        state = .resting
        return true
    }
}

/// When files are read for the audit; one is read at a time.
enum AuditSchedule: Sendable {
    case off
    /// The time of the next audit is still to be set.
    case unscheduled
    case scheduled(at: SyncInstant)
    case reading
    /// A file was read, and is not judged yet.
    case read(AuditedFile)

    init(isOn: Bool) { self = isOn ? .unscheduled : .off }

    /// Whether the time of the next audit must be set.
    var needsTime: Bool { if case .unscheduled = self { true } else { false } }

    /// The time of the next audit; nil while there is none.
    var due: SyncInstant? { if case .scheduled(let time) = self { time } else { nil } }

    /// Whether the next audit starts now.
    mutating func takeStart(at now: SyncInstant) -> Bool {
        guard let due, due <= now else { return false }
        self = .unscheduled
        return true
    }

    /// Notes that a file is being read.
    mutating func started() { self = .reading }

    /// Notes that a file was read; nil when there was none.
    mutating func ended(_ file: AuditedFile?) { self = file.map { .read($0) } ?? .unscheduled }

    /// Removes and returns the file that was read; nil when there is none.
    mutating func takeFile() -> AuditedFile? {
        guard case .read(let file) = self else { return nil }
        self = .unscheduled
        return file
    }
}
