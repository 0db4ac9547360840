/// Looks for a member near the start of an answer, without reading the rest of it.
enum JSONMember {
    /// A text without escapes.
    static func text(_ name: String, in answer: [UInt8]) -> String? {
        let start = head(of: answer)
        return start.firstRange(of: "\"\(name)\":\"").map { String(start[$0.upperBound...].prefix { $0 != "\"" }) }
    }

    /// Whether the member is there and false.
    static func isFalse(_ name: String, in answer: [UInt8]) -> Bool {
        head(of: answer).contains("\"\(name)\":false")
    }

    private static func head(of answer: [UInt8]) -> String { String(decoding: answer.prefix(4096), as: UTF8.self) }
}
