import ByteClubCore

/// Names and values of a query or a form, in the order in which they are sent.
struct Parameters: ExpressibleByDictionaryLiteral {
    private var pairs: [(name: String, value: String)] = []

    init(dictionaryLiteral elements: (String, String?)...) {
        for (name, value) in elements { self[name] = value }
    }

    /// Adds a parameter; nil adds none.
    subscript(name: String) -> String? {
        get { pairs.last { $0.name == name }?.value }
        set { if let newValue { pairs.append((name, newValue)) } }
    }

    var isEmpty: Bool { pairs.isEmpty }

    /// The text of a query, and of a form as well since no blank becomes a plus.
    var encoded: String {
        pairs.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }.joined(separator: "&")
    }
}

/// Percent-encoding of all but the unreserved characters of RFC 3986, section 2.3.
enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Encodes one path segment, or one name or value of a query.
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Encodes a path segment by segment; empty for the root, else with a slash in front.
    static func encode(_ path: RemotePath) -> String {
        path.components.map { "/" + encode($0) }.joined()
    }
}
