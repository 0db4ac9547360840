extension DaemonCall: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch self {
        case .hello(let version):
            writer.put(Int64(0))
            writer.put(version)
        case .attach(let identifier):
            writer.put(Int64(1))
            writer.put(identifier)
        case .submit(let identifier, let submissions):
            writer.put(Int64(2))
            writer.put(identifier)
            writer.put(each: submissions)
        case .list: writer.put(Int64(3))
        case .change(let ids, let change):
            writer.put(Int64(4))
            writer.put(each: ids)
            writer.put(change)
        case .acknowledge(let ends):
            writer.put(Int64(5))
            writer.put(each: ends)
        case .watch: writer.put(Int64(6))
        case .schedule: writer.put(Int64(7))
        case .setSchedule(let schedule):
            writer.put(Int64(8))
            writer.put(schedule)
        case .relay(let request):
            writer.put(Int64(9))
            writer.put(request)
        case .stop: writer.put(Int64(10))
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.number() {
        case 0: self = .hello(version: try reader.number())
        case 1: self = .attach(identifier: try reader.text())
        case 2: self = .submit(identifier: try reader.text(), try reader.values())
        case 3: self = .list
        case 4: self = .change(try reader.values(), try reader.value())
        case 5: self = .acknowledge(try reader.values())
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
    func encode(to writer: inout RecordWriter) {
        writer.put(id)
        writer.put(Int64(bitPattern: sequence))
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        id = try reader.value()
        sequence = UInt64(bitPattern: try reader.number())
    }
}

extension Submission: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(id)
        writer.put(request)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        id = try reader.value()
        request = try reader.value()
    }
}

extension DaemonAnswer: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch self {
        case .hello(let version, let process):
            writer.put(Int64(0))
            writer.put(version)
            writer.put(Int64(process))
        case .done: writer.put(Int64(1))
        case .tasks(let tasks):
            writer.put(Int64(2))
            writer.put(each: tasks)
        case .schedule(let schedule):
            writer.put(Int64(3))
            writer.put(schedule)
        case .relayed(let response):
            writer.put(Int64(4))
            writer.put(response)
        case .refused(let code, let message):
            writer.put(Int64(5))
            writer.put(code)
            writer.put(message)
        case .firstTasks(let tasks):
            writer.put(Int64(6))
            writer.put(each: tasks)
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.number() {
        case 0: self = .hello(version: try reader.number(), process: try reader.number(as: Int32.self))
        case 1: self = .done
        case 2: self = .tasks(try reader.values())
        case 3: self = .schedule(try reader.value())
        case 4: self = .relayed(try reader.value())
        case 5: self = .refused(code: try reader.text(), message: try reader.text())
        case 6: self = .firstTasks(try reader.values())
        default: throw RecordReader.Damage()
        }
    }
}

extension DaemonEvent: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch self {
        case .status(let status):
            writer.put(Int64(0))
            writer.put(status)
        case .gone(let id):
            writer.put(Int64(1))
            writer.put(id)
        case .caughtUp: writer.put(Int64(2))
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.number() {
        case 0: self = .status(try reader.value())
        case 1: self = .gone(try reader.value())
        case 2: self = .caughtUp
        default: throw RecordReader.Damage()
        }
    }
}

extension RelayedRequest: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(request)
        writer.put(timeoutForRequest)
        writer.put(maximumResponseBytes)
        writer.put(optional: certificateAuthorityFile)
        writer.put(each: pinnedKeys.sorted { $0.description < $1.description })
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        request = try reader.value()
        timeoutForRequest = try reader.number()
        maximumResponseBytes = try reader.number()
        certificateAuthorityFile = try reader.optionalText()
        pinnedKeys = Set(try reader.values() as [PublicKeyPin])
    }
}

extension RelayedResponse: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(response)
        writer.put(bytes)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        response = try reader.value()
        bytes = Array(try reader.content())
    }
}

extension DaemonFrame: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch self {
        case .call(let number, let call):
            writer.put(Int64(0))
            writer.put(Int64(bitPattern: number))
            writer.put(call)
        case .answer(let number, let answer):
            writer.put(Int64(1))
            writer.put(Int64(bitPattern: number))
            writer.put(answer)
        case .event(let event):
            writer.put(Int64(2))
            writer.put(event)
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.number() {
        case 0: self = .call(number: UInt64(bitPattern: try reader.number()), try reader.value())
        case 1: self = .answer(number: UInt64(bitPattern: try reader.number()), try reader.value())
        case 2: self = .event(try reader.value())
        default: throw RecordReader.Damage()
        }
    }
}
