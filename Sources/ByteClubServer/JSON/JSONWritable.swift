import ByteClubCore

/// A value that knows its JSON text on the wire.
protocol JSONWritable {
    /// Writes the value.
    func write(to json: inout JSONText)
}

extension JSONWritable {
    /// The value's JSON text in UTF-8.
    func json(isASCII: Bool = false) -> [UInt8] {
        var json = JSONText(isASCII: isASCII)
        write(to: &json)
        return json.bytes
    }
}

extension Array: JSONWritable where Element: JSONWritable {
    func write(to json: inout JSONText) {
        json.array { json in
            for element in self { element.write(to: &json) }
        }
    }
}
