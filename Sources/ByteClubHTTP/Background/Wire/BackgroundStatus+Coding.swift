extension BackgroundStatus: Recordable {
    func encode(to writer: inout RecordWriter) {
        encodeOrder(to: &writer)
        encodeState(to: &writer)
        writer.put(obstacle)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        try self.init(order: &reader)
        try readState(&reader)
        obstacle = try reader.value()
    }

    /// Writes what never changes after the task is recorded.
    func encodeOrder(to writer: inout RecordWriter) { writer.put(id, identifier, created, request) }

    /// Reads the output of ``encodeOrder(to:)``, as the status of a task that was just recorded.
    init(order reader: inout RecordReader) throws(RecordReader.Damage) {
        let (id, identifier, created): (BackgroundTask.ID, String, Int64) = try reader.values()
        guard created >= 0 else { throw RecordReader.Damage() }
        self.init(id, identifier, try reader.value(), at: created)
    }

    /// An upper bound for all counters.
    private static let mostAttempts = 1 << 32

    /// Writes what changes, except the obstacle, which the next daemon finds out itself.
    func encodeState(to writer: inout RecordWriter) {
        writer.put(
            priority, state, bytes, total, bytesPerSecond, attempt, failuresInRow, interruptions, begun, changed,
            nextAttempt, failure, result, sequence)
    }

    /// Reads the output of ``encodeState(to:)``.
    mutating func readState(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        (
            priority, state, bytes, total, bytesPerSecond, attempt, failuresInRow, interruptions, begun, changed,
            nextAttempt, failure, result, sequence
        ) = try reader.values()
        guard min(bytes, total ?? 0, begun, changed, nextAttempt ?? 0) >= 0,
            bytesPerSecond.isFinite, bytesPerSecond >= 0,
            [attempt, failuresInRow, interruptions].allSatisfy({ (0...Self.mostAttempts).contains($0) })
        else { throw RecordReader.Damage() }
    }
}

extension BackgroundStatus.State: Recordable {}

extension BackgroundResult: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(status, file)
        writer.put(content: bytes)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        (status, file) = try reader.values()
        bytes = Array(try reader.content())
    }
}

extension BackgroundFailure: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(code, message, status, isRetryable, retryAfter) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        (code, message, status, isRetryable, retryAfter) = try reader.values()
    }
}

extension BackgroundChange: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch self {
        case .pause: writer.put(0)
        case .resume: writer.put(1)
        case .cancel: writer.put(2)
        case .prioritize(let priority): writer.put(3, priority)
        case .forget: writer.put(4)
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.value() as Int {
        case 0: self = .pause
        case 1: self = .resume
        case 2: self = .cancel
        case 3: self = .prioritize(try reader.value())
        case 4: self = .forget
        default: throw RecordReader.Damage()
        }
    }
}

extension RateSchedule: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(otherwise, spans) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) { (otherwise, spans) = try reader.values() }
}

extension RateSchedule.Span: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(days.sorted(), from, to, rate) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        days = Set(try reader.value() as [Int])
        (from, to, rate) = try reader.values()
    }
}
