import HTTPTypes

extension BackgroundRequest: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch work {
        case .download(let request, let path):
            writer.put(Int64(0))
            writer.put(request)
            writer.put(path)
        case .upload(let request, let file):
            writer.put(Int64(1))
            writer.put(request)
            writer.put(file)
        case .custom(let kind, let payload):
            writer.put(Int64(2))
            writer.put(kind)
            writer.put(payload)
        }
        writer.put(options)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.number() {
        case 0: work = .download(try reader.value(), to: try reader.text())
        case 1: work = .upload(try reader.value(), file: try reader.text())
        case 2: work = .custom(kind: try reader.text(), payload: Array(try reader.content()))
        default: throw RecordReader.Damage()
        }
        options = try reader.value()
    }
}

extension BackgroundOptions: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(label)
        writer.put(optional: credential)
        writer.put(each: publicFields.map(\.rawName).sorted()) { $0.put($1) }
        writer.put(priority)
        writer.put(optional: rateLimit.map(Int64.init))
        writer.put(optional: idempotencyKey)
        writer.put(optional: earliestStart)
        writer.put(timeoutForResource)
        writer.put(optional: certificateAuthorityFile)
        writer.put(each: pinnedKeys.sorted { $0.description < $1.description })
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        self.init()
        label = try reader.text()
        credential = try reader.optionalText()
        publicFields = Set(
            try reader.values { reader throws(RecordReader.Damage) in
                guard let name = HTTPField.Name(try reader.text()) else { throw RecordReader.Damage() }
                return name
            })
        priority = try reader.value()
        rateLimit = try reader.optional { reader throws(RecordReader.Damage) in try reader.number(as: Int.self) }
        idempotencyKey = try reader.optionalText()
        earliestStart = try reader.optionalNumber()
        timeoutForResource = try reader.number()
        certificateAuthorityFile = try reader.optionalText()
        pinnedKeys = Set(try reader.values() as [PublicKeyPin])
    }
}

extension SessionTask.Priority: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(Int64(rawValue)) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        guard let priority = Self(rawValue: try reader.number(as: Int.self)) else { throw RecordReader.Damage() }
        self = priority
    }
}

extension BackgroundTask.ID: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(Int64(bitPattern: number)) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        self.init(number: UInt64(bitPattern: try reader.number()))
    }
}
