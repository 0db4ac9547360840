extension BackgroundStatus: Recordable {
    func encode(to writer: inout RecordWriter) {
        encodeOrder(to: &writer)
        encodeState(to: &writer)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        try self.init(order: &reader)
        try readState(&reader)
    }

    /// Writes what never changes after the task is recorded.
    func encodeOrder(to writer: inout RecordWriter) {
        writer.put(id)
        writer.put(identifier)
        writer.put(created)
        writer.put(request)
    }

    /// Reads the output of ``encodeOrder(to:)``, as the status of a task that was just recorded.
    init(order reader: inout RecordReader) throws(RecordReader.Damage) {
        let id: BackgroundTask.ID = try reader.value()
        let identifier = try reader.text()
        let created = try reader.count()
        self.init(id, identifier, try reader.value(), at: created)
    }

    /// An upper bound for all counters.
    private static let mostAttempts = 1 << 32

    /// Writes what changes.
    func encodeState(to writer: inout RecordWriter) {
        writer.put(priority)
        writer.put(state.rawValue)
        writer.put(bytes)
        writer.put(optional: total)
        writer.put(Int64(bitPattern: bytesPerSecond.bitPattern))
        writer.put(Int64(attempt))
        writer.put(Int64(failuresInRow))
        writer.put(Int64(interruptions))
        writer.put(begun)
        writer.put(changed)
        writer.put(optional: nextAttempt)
        writer.put(optional: failure) { $0.put($1) }
        writer.put(optional: result) { $0.put($1) }
        writer.put(Int64(bitPattern: sequence))
    }

    /// Reads the output of ``encodeState(to:)``.
    mutating func readState(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        priority = try reader.value()
        guard let state = State(rawValue: try reader.text()) else { throw RecordReader.Damage() }
        self.state = state
        bytes = try reader.count()
        total = try reader.optional { reader throws(RecordReader.Damage) in try reader.count() }
        bytesPerSecond = Double(bitPattern: UInt64(bitPattern: try reader.number()))
        guard bytesPerSecond.isFinite, bytesPerSecond >= 0 else { throw RecordReader.Damage() }
        attempt = Int(try reader.count())
        failuresInRow = Int(try reader.count())
        interruptions = Int(try reader.count())
        guard max(attempt, failuresInRow, interruptions) <= Self.mostAttempts else { throw RecordReader.Damage() }
        begun = try reader.count()
        changed = try reader.count()
        nextAttempt = try reader.optional { reader throws(RecordReader.Damage) in try reader.count() }
        failure = try reader.optional { reader throws(RecordReader.Damage) in try reader.value() }
        result = try reader.optional { reader throws(RecordReader.Damage) in try reader.value() }
        sequence = UInt64(bitPattern: try reader.number())
    }
}

extension BackgroundResult: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(optional: status.map(Int64.init))
        writer.put(optional: file)
        writer.put(bytes)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        status = try reader.optional { reader throws(RecordReader.Damage) in try reader.number(as: Int.self) }
        file = try reader.optionalText()
        bytes = Array(try reader.content())
    }
}

extension BackgroundFailure: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(code)
        writer.put(message)
        writer.put(optional: status.map(Int64.init))
        writer.put(isRetryable)
        writer.put(optional: retryAfter)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        code = try reader.text()
        message = try reader.text()
        status = try reader.optional { reader throws(RecordReader.Damage) in try reader.number(as: Int.self) }
        isRetryable = try reader.flag()
        retryAfter = try reader.optionalNumber()
    }
}

extension BackgroundChange: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch self {
        case .pause: writer.put(Int64(0))
        case .resume: writer.put(Int64(1))
        case .cancel: writer.put(Int64(2))
        case .prioritize(let priority):
            writer.put(Int64(3))
            writer.put(priority)
        case .forget: writer.put(Int64(4))
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.number() {
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
    func encode(to writer: inout RecordWriter) {
        writer.put(optional: otherwise.map(Int64.init))
        writer.put(each: spans) { writer, span in
            writer.put(each: span.days.sorted()) { $0.put(Int64($1)) }
            writer.put(Int64(span.from))
            writer.put(Int64(span.to))
            writer.put(optional: span.rate.map(Int64.init))
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        self.init(otherwise: try Self.rate(&reader))
        spans = try reader.values { reader throws(RecordReader.Damage) in
            Span(
                days: Set(try reader.values { reader throws(RecordReader.Damage) in try reader.number(as: Int.self) }),
                from: try reader.number(as: Int.self), to: try reader.number(as: Int.self),
                rate: try Self.rate(&reader))
        }
    }

    private static func rate(_ reader: inout RecordReader) throws(RecordReader.Damage) -> Int? {
        try reader.optional { reader throws(RecordReader.Damage) in try reader.number(as: Int.self) }
    }
}
