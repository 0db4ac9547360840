/// Decides when the program of a session is started again; pure: each event returns steps.
///
/// It knows only the sessions with a ``BackgroundRelaunch``, and of each task only what it needs.
struct RelaunchPlan: Sendable {
    indirect enum Event: Sendable {
        /// The folder's commands and tasks at the daemon's start.
        case loaded([RelaunchRecord], [BackgroundStatus])
        /// A program has attached with this command, or none; with the session's tasks.
        case attached(String, BackgroundRelaunch?, [BackgroundStatus])
        case detached(String)
        /// A task is new or has changed.
        case status(BackgroundStatus)
        /// A task was forgotten.
        case gone(BackgroundTask.ID, identifier: String)
        /// The program of ``Step/start(_:_:)`` runs.
        case started(UInt64)
        /// The program cannot be started.
        case failed(UInt64)
        /// The program has ended.
        case exited(UInt64)
        /// The time of ``RelaunchPlan/wakeUp`` has come.
        case woke
    }

    enum Step: Sendable, Hashable {
        /// Write the record to disk.
        case save(RelaunchRecord)
        /// Remove the session's record from disk.
        case remove(String)
        /// Start the session's program; ``Event/started(_:)`` and then ``Event/exited(_:)`` must follow with this
        /// number, or ``Event/failed(_:)``.
        case start(UInt64, RelaunchRecord)
    }

    /// What a task means for its session's program.
    private enum Mark: Hashable {
        /// It runs, or will by itself.
        case open
        /// It waits for a person.
        case paused
        /// It has ended with this sequence.
        case ended(UInt64)
    }

    private struct Start {
        var number: UInt64
        /// The last end that waited at the start.
        var sequence: UInt64
        var isRunning = false
    }

    private struct Entry {
        var record: RelaunchRecord
        var isAttached = false
        var start: Start?
        /// When the program is started unless something happens before.
        var due: Moment?
        private(set) var tasks: [BackgroundTask.ID: Mark] = [:]
        private var openCount = 0
        /// How many ends wait for which no program was started.
        private var newCount = 0

        init(_ record: RelaunchRecord, _ statuses: [BackgroundStatus]) {
            self.record = record
            for status in statuses { note(Self.mark(of: status), of: status.id) }
        }

        /// Whether the program has something to do, and no other program may do it.
        var isReady: Bool { !isAttached && start == nil && openCount == 0 && newCount > 0 }

        var lastEnd: UInt64 {
            tasks.values.map { if case .ended(let sequence) = $0 { sequence } else { 0 } }.max() ?? 0
        }

        /// Notes a task, or that it is gone; false if nothing has changed.
        @discardableResult
        mutating func note(_ mark: Mark?, of id: BackgroundTask.ID) -> Bool {
            let before = tasks[id]
            guard before != mark else { return false }
            tasks[id] = mark
            openCount += (mark == .open ? 1 : 0) - (before == .open ? 1 : 0)
            newCount += (isNew(mark) ? 1 : 0) - (isNew(before) ? 1 : 0)
            return true
        }

        /// Notes that a program was started for the ends up to a sequence.
        mutating func noteStart(upTo sequence: UInt64) {
            record.started = max(record.started, sequence)
            newCount = tasks.values.count { isNew($0) }
        }

        private func isNew(_ mark: Mark?) -> Bool {
            if case .ended(let sequence) = mark { sequence > record.started } else { false }
        }

        static func mark(of status: BackgroundStatus) -> Mark {
            switch status.state {
            case .waiting, .running: .open
            case .paused: .paused
            case .done, .failed: .ended(status.sequence)
            }
        }
    }

    /// How long nothing may happen before a program is started.
    static let quiet: Duration = .seconds(1)
    /// The same at the daemon's start, when the program that has started it is about to attach.
    static let firstQuiet: Duration = .seconds(3)

    private var entries: [String: Entry] = [:]
    private var lastNumber: UInt64 = 0

    /// Whether no session has a command, so that events about tasks need not be sent.
    var isEmpty: Bool { entries.isEmpty }

    /// When to send the next ``Event/woke``; nil for never.
    var wakeUp: Moment? { entries.isEmpty ? nil : entries.values.compactMap(\.due).min() }

    /// Whether a program is about to be started, for which the daemon must stay.
    var isPending: Bool { entries.values.contains { $0.due != nil } || isStarting }

    /// Whether a program is being started.
    var isStarting: Bool { entries.values.contains { $0.start?.isRunning == false } }

    /// Handles an event, and returns the steps to carry out, in this order.
    mutating func handle(_ event: Event, at now: Moment) -> [Step] {
        switch event {
        case .loaded(let records, let statuses): return load(records, statuses, at: now)
        case .attached(let identifier, let relaunch, let statuses): return attach(identifier, relaunch, statuses)
        case .detached(let identifier):
            entries[identifier]?.isAttached = false
            return reconsider(identifier, at: now)
        case .status(let status):
            guard entries[status.identifier]?.note(Entry.mark(of: status), of: status.id) == true else { return [] }
            return reconsider(status.identifier, at: now)
        case .gone(let id, let identifier):
            guard entries[identifier]?.note(nil, of: id) == true else { return [] }
            return reconsider(identifier, at: now)
        case .started(let number):
            guard let identifier = identifier(of: number), var entry = entries[identifier] else { return [] }
            entry.start?.isRunning = true
            entry.noteStart(upTo: entry.start?.sequence ?? 0)
            entries[identifier] = entry
            return [.save(entry.record)]
        case .failed(let number):
            guard let identifier = identifier(of: number), var entry = entries[identifier] else { return [] }
            // Not on disk, so that the next daemon tries again.
            entry.noteStart(upTo: entry.start?.sequence ?? 0)
            entry.start = nil
            entries[identifier] = entry
            return reconsider(identifier, at: now)
        case .exited(let number):
            guard let identifier = identifier(of: number) else { return [] }
            entries[identifier]?.start = nil
            return reconsider(identifier, at: now)
        case .woke: return startDue(at: now)
        }
    }

    private mutating func load(
        _ records: [RelaunchRecord], _ statuses: [BackgroundStatus], at now: Moment
    ) -> [Step] {
        if records.isEmpty { return [] }
        let tasks = Dictionary(grouping: statuses, by: \.identifier)
        return records.flatMap { record -> [Step] in
            var record = record
            let statuses = tasks[record.identifier] ?? []
            // Sequences may begin anew below the recorded one when the clock was set back and no task has it any more.
            record.started = min(record.started, statuses.map(\.sequence).max() ?? 0)
            entries[record.identifier] = Entry(record, statuses)
            return reconsider(record.identifier, at: now, after: Self.firstQuiet)
        }
    }

    private mutating func attach(
        _ identifier: String, _ relaunch: BackgroundRelaunch?, _ statuses: [BackgroundStatus]
    ) -> [Step] {
        guard let relaunch else { return entries.removeValue(forKey: identifier) == nil ? [] : [.remove(identifier)] }
        let before = entries[identifier]
        var entry =
            before ?? Entry(RelaunchRecord(identifier: identifier, relaunch: relaunch, started: 0), statuses)
        entry.record.relaunch = relaunch
        entry.isAttached = true
        entry.due = nil
        entries[identifier] = entry
        return before?.record.relaunch == relaunch ? [] : [.save(entry.record)]
    }

    /// Sets or ends the session's quiet moment; without tasks and programs the session's command is forgotten.
    private mutating func reconsider(
        _ identifier: String, at now: Moment, after quiet: Duration = RelaunchPlan.quiet
    ) -> [Step] {
        guard let entry = entries[identifier] else { return [] }
        if entry.tasks.isEmpty, !entry.isAttached, entry.start == nil {
            entries[identifier] = nil
            return [.remove(identifier)]
        }
        entries[identifier]?.due = entry.isReady ? now.advanced(by: quiet) : nil
        return []
    }

    private mutating func startDue(at now: Moment) -> [Step] {
        let due = entries.filter { $0.value.due.map { $0 <= now } == true }.keys.sorted()
        return due.compactMap { identifier in
            guard var entry = entries[identifier] else { return nil }
            lastNumber += 1
            entry.start = Start(number: lastNumber, sequence: entry.lastEnd)
            entry.due = nil
            entries[identifier] = entry
            return .start(lastNumber, entry.record)
        }
    }

    private func identifier(of number: UInt64) -> String? {
        entries.first { $0.value.start?.number == number }?.key
    }
}

/// The command of a session in the daemon's folder.
struct RelaunchRecord: Sendable, Hashable {
    var identifier: String
    var relaunch: BackgroundRelaunch
    /// The sequence of the last end for which the program was started; 0 before the first start.
    var started: UInt64

    /// Checks that the record is one that this library writes.
    ///
    /// - Throws: ``TransferError/Code/badConfiguration``.
    func check() throws(TransferError) {
        try BackgroundRequest.check(identifier: identifier)
        try relaunch.check()
    }
}

extension RelaunchRecord: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(identifier, relaunch, started) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        (identifier, relaunch, started) = try reader.values()
    }
}

extension BackgroundRelaunch: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(command) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) { self.init(command: try reader.value()) }
}
