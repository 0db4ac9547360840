import ByteClubCore
import FoundationEssentials

/// How results are written as JSON: keys sorted, slashes left alone, so that equal results are equal texts.
///
/// What a terminal would obey is escaped.
enum JSON {
    /// One value over several lines, for files and for results.
    static func bytes(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try VisibleText.json(Array(encoder.encode(value))) + [0x0A]
    }

    /// One value on one line, for streams of events.
    static func line(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try VisibleText.json(Array(encoder.encode(value))) + [0x0A]
    }
}
