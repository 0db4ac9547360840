/// A JSON text under construction, written straight to bytes.
///
/// It is several times quicker than an encoder that is driven by reflection-like containers, which matters for pages
/// of thousands of entries. Commas are its own business.
public struct JSONText {
    /// The UTF-8 text so far.
    public private(set) var bytes: [UInt8] = []
    private let isASCII: Bool
    private var needsComma = false
    /// The last dates, since an entry has two and its neighbours often the same ones.
    private var dates: (latest: (seconds: Int64, text: String)?, other: (seconds: Int64, text: String)?)

    /// Starts an empty text.
    ///
    /// - Parameter isASCII: Whether everything beyond ASCII is escaped, as a header's value needs it.
    public init(isASCII: Bool = false) {
        self.isASCII = isASCII
    }

    /// Writes an object whose members `members` writes.
    public mutating func object(_ members: (inout JSONText) throws -> Void) rethrows {
        try write("{", "}", members)
    }

    /// Writes an array whose elements `elements` writes.
    public mutating func array(_ elements: (inout JSONText) throws -> Void) rethrows {
        try write("[", "]", elements)
    }

    private mutating func write(
        _ start: Unicode.Scalar, _ end: Unicode.Scalar, _ content: (inout JSONText) throws -> Void
    ) rethrows {
        separate()
        bytes.append(UInt8(ascii: start))
        needsComma = false
        try content(&self)
        bytes.append(UInt8(ascii: end))
        needsComma = true
    }

    /// Writes a member's name; its value must follow.
    public mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member's name that is not a literal; its value must follow.
    public mutating func key(named name: String) {
        value(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string.
    public mutating func value(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var text = text
        let isPlain = text.withUTF8 { text in
            guard unsafe Self.isPlain(text) else { return false }
            unsafe bytes.append(contentsOf: text)
            return true
        }
        if !isPlain {
            for scalar in text.unicodeScalars { append(scalar) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a hash as a string of 64 lower-case hexadecimal digits.
    public mutating func value(_ hash: ContentHash) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        unsafe hash.withUnsafeBytes { digest in
            for index in digest.indices {
                let byte = unsafe digest[index]
                bytes.append(Self.digit(byte >> 4))
                bytes.append(Self.digit(byte & 15))
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? value + 48 : value + 87 }

    /// Whether all is ASCII that needs no escape; it looks at every byte, which is quicker than to stop at the first.
    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var strange: UInt8 = 0
        for index in text.indices {
            let byte = unsafe text[index]
            let isStrange = byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            strange |= isStrange ? 1 : 0
        }
        return strange == 0
    }

    /// Writes a whole number.
    public mutating func value(_ number: Int64) {
        separate()
        append(decimal: number)
    }

    /// Writes a number with a fraction; it must be finite.
    public mutating func value(_ number: Double) {
        separate()
        bytes.append(contentsOf: number.description.utf8)
    }

    /// Writes a truth value.
    public mutating func value(_ flag: Bool) {
        separate()
        bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    }

    /// Writes a date in the protocol's form; the same date again costs nothing.
    public mutating func value(date seconds: Int64, text: () -> String) {
        if dates.latest?.seconds != seconds {
            let isOther = dates.other?.seconds == seconds
            dates = (isOther ? dates.other : (seconds, text()), dates.latest)
        }
        value(dates.latest?.text ?? "")
    }

    /// Writes nothing's name.
    public mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes a member that is a whole number; nil writes none.
    public mutating func member(_ name: StaticString, _ number: Int64?) {
        guard let number else { return }
        key(name)
        value(number)
    }

    /// Writes a member that is a number with a fraction, which must be finite; nil writes none.
    public mutating func member(_ name: StaticString, _ number: Double?) {
        guard let number else { return }
        key(name)
        value(number)
    }

    /// Writes a member that is a string; nil writes none.
    public mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        value(text)
    }

    /// Writes a member that is a hash; nil writes none.
    public mutating func member(_ name: StaticString, _ hash: ContentHash?) {
        guard let hash else { return }
        key(name)
        value(hash)
    }

    /// Writes a member that is true or false; nil writes none.
    public mutating func member(_ name: StaticString, _ flag: Bool?) {
        guard let flag else { return }
        key(name)
        value(flag)
    }

    /// Writes a member that is an array, each element of which `write` writes.
    mutating func member<Element>(
        _ name: StaticString, _ elements: [Element], _ write: (Element, inout JSONText) -> Void
    ) {
        key(name)
        array { json in
            for element in elements { write(element, &json) }
        }
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Digits from the last to the first, as a text of its own would cost more than all the rest of a number.
    private mutating func append(decimal number: Int64) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        let first = bytes.count
        var rest = number.magnitude
        repeat {
            bytes.append(UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0"))
            rest /= 10
        } while rest > 0
        bytes[first...].reverse()
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": bytes.append(contentsOf: "\\\"".utf8)
        case "\\": bytes.append(contentsOf: "\\\\".utf8)
        case "\n": bytes.append(contentsOf: "\\n".utf8)
        case "\r": bytes.append(contentsOf: "\\r".utf8)
        case "\t": bytes.append(contentsOf: "\\t".utf8)
        default:
            if scalar.value >= 0x20, scalar.value < 0x7F {
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            } else if isASCII || scalar.value < 0x20 {
                for unit in UTF16.encode(scalar) ?? .init() {
                    bytes.append(contentsOf: ("\\u" + String(unit, radix: 16).padded(to: 4)).utf8)
                }
            } else {
                bytes.append(contentsOf: UTF8.encode(scalar) ?? .init())
            }
        }
    }
}
