extension String {
    /// The text as one segment of an address, or one name or value of a query or a form: all but RFC 3986's unreserved
    /// characters as escapes, in UTF-8 (sections 2.1 and 2.3).
    public var percentEncoded: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for byte in utf8 {
            if byte.isUnreserved {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

extension UInt8 {
    /// Whether it stands for itself in every part of an address (RFC 3986 section 2.3).
    public var isUnreserved: Bool { isASCIILetter || isASCIIDigit || "-._~".utf8.contains(self) }
}
