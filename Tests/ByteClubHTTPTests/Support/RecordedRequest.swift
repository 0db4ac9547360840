/// A request's head as it came over the wire.
struct RecordedRequest: Sendable {
    /// Every byte up to and with the empty line.
    var raw: String
    var method: String
    var target: String
    var fields: [(name: String, value: String)]
    /// From 1.
    var indexOnConnection = 0

    init?(_ raw: String) {
        self.raw = raw
        let lines = raw.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard let start = lines.first?.split(separator: " "), start.count == 3 else { return nil }
        method = String(start[0])
        target = String(start[1])
        fields = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (line[..<colon].lowercased(), String(value))
        }
    }

    /// The value of a field, its name in lower case.
    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    var contentLength: Int { self["content-length"].flatMap { Int($0) } ?? 0 }
}
