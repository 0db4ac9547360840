import HTTPTypes

extension BackgroundRequest: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch work {
        case .download(let request, let path): writer.put(0, request, path)
        case .upload(let request, let file): writer.put(1, request, file)
        case .custom(let kind, let payload):
            writer.put(2, kind)
            writer.put(content: payload)
        }
        writer.put(options)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.value() as Int {
        case 0: work = .download(try reader.value(), to: try reader.value())
        case 1: work = .upload(try reader.value(), file: try reader.value())
        case 2: work = .custom(kind: try reader.value(), payload: Array(try reader.content()))
        default: throw RecordReader.Damage()
        }
        options = try reader.value()
    }
}

extension BackgroundOptions: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(
            label, credential, publicFields, priority, rateLimit, idempotencyKey, earliestStart, timeoutForResource,
            certificateAuthorityFile, pinnedKeys, allowsMetered, allowsConstrained, isDiscretionary)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        (
            label, credential, publicFields, priority, rateLimit, idempotencyKey, earliestStart, timeoutForResource,
            certificateAuthorityFile, pinnedKeys
        ) = try reader.values()
        // Former versions of the record end here.
        if reader.format == .withoutConditions { return }
        (allowsMetered, allowsConstrained, isDiscretionary) = try reader.values()
    }
}

extension NetworkConditions.Obstacle: Recordable {}

extension SessionTask.Priority: Recordable {}

extension BackgroundTask.ID: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(number) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) { self.init(number: try reader.value()) }
}
