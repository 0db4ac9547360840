import ByteClubCore
import Logging

/// How the lines of the log look.
enum LogFormat: String, CaseIterable, Sendable {
    /// For people.
    case text
    /// An object a line, for programs.
    case json

    /// One event as a line without its end.
    func line(stamp: String, level: Logger.Level, message: String, metadata: Logger.Metadata) -> String {
        let fields = metadata.sorted { $0.key < $1.key }
        switch self {
        case .text:
            let line = fields.reduce("\(stamp) \(level) \(message)") { "\($0) \($1.key)=\($1.value)" }
            return String(decoding: line.utf8.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        case .json:
            var json = JSONText()
            json.object { json in
                json.member("time", stamp)
                json.member("level", level.rawValue)
                json.member("message", message)
                for (key, value) in fields {
                    json.key(named: key)
                    Self.write(value, to: &json)
                }
            }
            return String(decoding: json.bytes, as: UTF8.self)
        }
    }

    private static func write(_ value: Logger.Metadata.Value, to json: inout JSONText) {
        switch value {
        case .stringConvertible(let number as Int): json.value(Int64(number))
        case .stringConvertible(let number as Int64): json.value(number)
        case .stringConvertible(let number as Double): json.value(number)
        default: json.value("\(value)")
        }
    }
}
