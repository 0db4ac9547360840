extension JSONReader {
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// Reads a string.
    public mutating func string() throws(JSONError) -> String {
        guard peek() == UInt8(ascii: "\"") else { throw otherKind }
        place += 1
        let start = place
        var isASCII = true
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                let text = try text(bytes[start..<place], isASCII: isASCII)
                place += 1
                return text
            case UInt8(ascii: "\\"): return try escapedString(after: bytes[start..<place])
            case 0..<0x20: throw broken
            case let byte:
                if byte >= 0x80 { isASCII = false }
                place += 1
            }
        }
        throw broken
    }

    /// Reads a whole number of 64 bits, written without fraction and exponent.
    public mutating func integer() throws(JSONError) -> Int64 {
        guard let first = peek(), first == UInt8(ascii: "-") || Self.digits.contains(first) else { throw otherKind }
        let number = try number()
        if let value = try Int64(text(number, isASCII: true)) { return value }
        let isWhole = number.dropFirst().allSatisfy { Self.digits.contains($0) }
        throw JSONError(isWhole ? .invalid("beyond 64 bits") : .otherKind)
    }

    /// Reads a number as the nearest fraction of 64 bits.
    public mutating func double() throws(JSONError) -> Double {
        guard let first = peek(), first == UInt8(ascii: "-") || Self.digits.contains(first) else { throw otherKind }
        let number = try number()
        guard let value = try Double(text(number, isASCII: true)), value.isFinite else {
            throw JSONError(.invalid("beyond the numbers of 64 bits"))
        }
        return value
    }

    /// Reads a number's text.
    mutating func number() throws(JSONError) -> ArraySlice<UInt8> {
        _ = peek()
        let start = place
        if place < bytes.count, bytes[place] == UInt8(ascii: "-") { place += 1 }
        let whole = place
        try takeDigits()
        if place - whole > 1, bytes[whole] == UInt8(ascii: "0") { throw broken }
        if place < bytes.count, bytes[place] == UInt8(ascii: ".") {
            place += 1
            try takeDigits()
        }
        if place < bytes.count, bytes[place] | 0x20 == UInt8(ascii: "e") {
            place += 1
            if place < bytes.count, bytes[place] == UInt8(ascii: "+") || bytes[place] == UInt8(ascii: "-") {
                place += 1
            }
            try takeDigits()
        }
        return bytes[start..<place]
    }

    private mutating func takeDigits() throws(JSONError) {
        let start = place
        while place < bytes.count, Self.digits.contains(bytes[place]) { place += 1 }
        if place == start { throw broken }
    }

    private func text(_ part: ArraySlice<UInt8>, isASCII: Bool = false) throws(JSONError) -> String {
        // The library does not specialise its validation, which shows in long lists.
        if isASCII { return String(decoding: part, as: UTF8.self) }
        guard let text = String(validating: part, as: UTF8.self) else { throw broken }
        return text
    }

    private mutating func escapedString(after start: ArraySlice<UInt8>) throws(JSONError) -> String {
        var result = Array(start)
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return try text(result[...])
            case UInt8(ascii: "\\"): try appendEscaped(to: &result)
            case 0..<0x20: throw broken
            default: result.append(byte)
            }
        }
        throw broken
    }

    private mutating func appendEscaped(to result: inout [UInt8]) throws(JSONError) {
        guard place < bytes.count else { throw broken }
        let byte = bytes[place]
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(byte)
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "u"): result.append(contentsOf: String(try escapedScalar()).utf8)
        default: throw broken
        }
    }

    /// The scalar of `\uXXXX`, or of two of them that are a surrogate pair.
    private mutating func escapedScalar() throws(JSONError) -> Unicode.Scalar {
        let first = UInt32(try codeUnit())
        var value = first
        if (0xD800..<0xDC00).contains(first) {
            guard place + 1 < bytes.count, bytes[place] == UInt8(ascii: "\\"), bytes[place + 1] == UInt8(ascii: "u")
            else { throw broken }
            place += 2
            let second = UInt32(try codeUnit())
            guard (0xDC00..<0xE000).contains(second) else { throw broken }
            value = 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw broken }
        return scalar
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        guard place + 4 <= bytes.count else { throw broken }
        var value: UInt16 = 0
        for byte in bytes[place..<place + 4] {
            guard let digit = Hexadecimal.value(byte) else { throw broken }
            value = value << 4 | UInt16(digit)
        }
        place += 4
        return value
    }
}
