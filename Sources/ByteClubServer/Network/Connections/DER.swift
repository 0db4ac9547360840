/// One value of ASN.1 in its distinguished encoding (ITU-T X.690): a tag, the length, and the content.
struct DER: Hashable, Sendable {
    /// What a content is, for the universal types that certificates have.
    enum Tag: UInt8 {
        case boolean = 0x01
        case integer = 0x02
        case bits = 0x03
        case octets = 0x04
        case identifier = 0x06
        case text = 0x0C
        case time = 0x17
        case longTime = 0x18
        case sequence = 0x30
        case set = 0x31
    }

    /// The whole encoding.
    let bytes: [UInt8]

    /// A value that is encoded already.
    init(encoded: some Sequence<UInt8>) { bytes = Array(encoded) }

    /// A value of a tag, whose content is other values or plain bytes.
    init(_ tag: UInt8, _ content: [UInt8]) {
        let digits = (0..<4).map { UInt8(truncatingIfNeeded: content.count >> (24 - 8 * $0)) }.drop { $0 == 0 }
        let isShort = content.count < 0x80
        bytes = [tag, isShort ? UInt8(content.count) : 0x80 | UInt8(digits.count)] + (isShort ? [] : digits) + content
    }

    /// A value of a universal type.
    init(_ tag: Tag, _ content: some Sequence<UInt8>) { self.init(tag.rawValue, Array(content)) }

    /// Values in their order.
    static func sequence(_ values: DER...) -> DER { DER(.sequence, values.flatMap(\.bytes)) }

    /// The name of a type, as in 2.5.4.3.
    static func identifier(_ first: UInt32, _ second: UInt32, _ rest: UInt32...) -> DER {
        DER(
            .identifier,
            ([first * 40 + second] + rest).flatMap { number in
                // Seven bits a byte; all bytes but the last have the highest bit.
                let digits = (0..<5).map { UInt8(number >> (28 - 7 * $0) & 0x7F) }
                return digits.dropLast().drop { $0 == 0 }.map { $0 | 0x80 } + digits.suffix(1)
            })
    }

    /// A value under a number of its context.
    func explicit(_ number: UInt8) -> DER { DER(0xA0 | number, bytes) }
}
