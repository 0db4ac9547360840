extension DaemonCall: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch self {
        case .hello(let version): writer.put(0, version)
        case .attach(let identifier, let relaunch): writer.put(1, identifier, relaunch)
        case .submit(let identifier, let submissions): writer.put(2, identifier, submissions)
        case .list: writer.put(3)
        case .change(let ids, let change): writer.put(4, ids, change)
        case .acknowledge(let ends): writer.put(5, ends)
        case .watch: writer.put(6)
        case .schedule: writer.put(7)
        case .setSchedule(let schedule): writer.put(8, schedule)
        case .relay(let request): writer.put(9, request)
        case .stop: writer.put(10)
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.value() as Int {
        case 0: self = .hello(version: try reader.value())
        case 1: self = .attach(identifier: try reader.value(), relaunch: try reader.value())
        case 2: self = .submit(identifier: try reader.value(), try reader.value())
        case 3: self = .list
        case 4: self = .change(try reader.value(), try reader.value())
        case 5: self = .acknowledge(try reader.value())
        case 6: self = .watch
        case 7: self = .schedule
        case 8: self = .setSchedule(try reader.value())
        case 9: self = .relay(try reader.value())
        case 10: self = .stop
        default: throw RecordReader.Damage()
        }
    }
}

extension TakenEnd: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(id, sequence) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) { (id, sequence) = try reader.values() }
}

extension Submission: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(id, request) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) { (id, request) = try reader.values() }
}

extension DaemonAnswer: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch self {
        case .hello(let version, let process): writer.put(0, version, process)
        case .done: writer.put(1)
        case .tasks(let tasks): writer.put(2, tasks)
        case .schedule(let schedule): writer.put(3, schedule)
        case .relayed(let response): writer.put(4, response)
        case .refused(let code, let message): writer.put(5, code, message)
        case .firstTasks(let tasks): writer.put(6, tasks)
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.value() as Int {
        case 0: self = .hello(version: try reader.value(), process: try reader.value())
        case 1: self = .done
        case 2: self = .tasks(try reader.value())
        case 3: self = .schedule(try reader.value())
        case 4: self = .relayed(try reader.value())
        case 5: self = .refused(code: try reader.value(), message: try reader.value())
        case 6: self = .firstTasks(try reader.value())
        default: throw RecordReader.Damage()
        }
    }
}

extension DaemonEvent: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch self {
        case .status(let status): writer.put(0, status)
        case .gone(let id): writer.put(1, id)
        case .caughtUp: writer.put(2)
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.value() as Int {
        case 0: self = .status(try reader.value())
        case 1: self = .gone(try reader.value())
        case 2: self = .caughtUp
        default: throw RecordReader.Damage()
        }
    }
}

extension RelayedRequest: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(request, timeoutForRequest, maximumResponseBytes, certificateAuthorityFile, pinnedKeys)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        (request, timeoutForRequest, maximumResponseBytes, certificateAuthorityFile, pinnedKeys) = try reader.values()
    }
}

extension RelayedResponse: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(response)
        writer.put(content: bytes)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        response = try reader.value()
        bytes = Array(try reader.content())
    }
}

extension DaemonFrame: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch self {
        case .call(let number, let call): writer.put(0, number, call)
        case .answer(let number, let answer): writer.put(1, number, answer)
        case .event(let event): writer.put(2, event)
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.value() as Int {
        case 0: self = .call(number: try reader.value(), try reader.value())
        case 1: self = .answer(number: try reader.value(), try reader.value())
        case 2: self = .event(try reader.value())
        default: throw RecordReader.Damage()
        }
    }
}
