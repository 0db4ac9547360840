import HTTPTypes

extension HTTPFields: Recordable {
    /// More fields than any message has, and fewer than a collection of them can hold.
    private static let mostFields = 10_000

    func encode(to writer: inout RecordWriter) {
        writer.put(each: self) { writer, field in
            writer.put(field.name.rawName)
            writer.put(unsafe field.withUnsafeBytesOfValue { unsafe Array($0) })
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        let fields = try reader.values { reader throws(RecordReader.Damage) in
            guard let name = HTTPField.Name(try reader.text()) else { throw RecordReader.Damage() }
            let value = Array(try reader.content())
            return unsafe value.withUnsafeBytes { unsafe HTTPField(name: name, lenientValue: $0) }
        }
        guard fields.count <= Self.mostFields else { throw RecordReader.Damage() }
        self.init(fields)
    }
}

extension HTTPRequest: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(method.rawValue)
        for part in [scheme, authority, path] { writer.put(optional: part) }
        writer.put(headerFields)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        guard let method = Method(try reader.text()) else { throw RecordReader.Damage() }
        let (scheme, authority, path) = (
            try reader.optionalText(), try reader.optionalText(), try reader.optionalText()
        )
        self.init(
            method: method, scheme: scheme, authority: authority, path: path, headerFields: try reader.value())
    }
}

extension HTTPResponse: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(Int64(status.code))
        writer.put(status.reasonPhrase)
        writer.put(headerFields)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        let code = try reader.number(as: Int.self)
        let reason = try reader.text()
        guard (100...999).contains(code), HTTPField.isValidValue(reason) else { throw RecordReader.Damage() }
        self.init(status: Status(code: code, reasonPhrase: reason), headerFields: try reader.value())
    }
}

extension PublicKeyPin: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(description) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        guard let pin = PublicKeyPin(try reader.text()) else { throw RecordReader.Damage() }
        self = pin
    }
}
