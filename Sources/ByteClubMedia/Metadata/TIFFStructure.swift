/// The tags of a TIFF structure in a file, as EXIF uses it (TIFF 6.0 section 2); broken ones are left out.
struct TIFFStructure {
    /// One entry of a directory: its value when that has up to four bytes, else the offset of the value.
    struct Field {
        let type: Int
        let count: Int
        let value: [UInt8]
    }

    /// Where the first directory begins.
    let first: Int
    private let source: any ByteSource
    private let range: Range<Int>
    private let isLittle: Bool

    /// Reads the head of the structure in `range`; nil when there is none.
    init?(_ source: some ByteSource, _ range: Range<Int>) throws(MediaError) {
        let head = try source.read(at: range.lowerBound, count: min(8, range.count))
        guard head.count == 8, head[0] == head[1], head[0] == 0x49 || head[0] == 0x4D else { return nil }
        self.source = source
        self.range = range
        isLittle = head[0] == 0x49
        first = head[4..<8].number(isLittle: isLittle)
    }

    /// The entries of the directory at an offset, by tag.
    func directory(at offset: Int) throws(MediaError) -> [Int: Field] {
        guard let size = try bytes(at: offset, count: 2) else { return [:] }
        // No camera writes more than a few dozen entries; 340 of them are 4 KiB.
        let count = min(number(size[...]), 340)
        let room = min(12 * count, range.count - offset - 2)
        let bytes = try source.read(at: range.lowerBound + offset + 2, count: room)
        var fields: [Int: Field] = [:]
        for entry in stride(from: 0, to: bytes.count - 11, by: 12) {
            let tag = number(bytes[entry..<entry + 2])
            guard fields[tag] == nil else { continue }
            fields[tag] = Field(
                type: number(bytes[entry + 2..<entry + 4]), count: number(bytes[entry + 4..<entry + 8]),
                value: Array(bytes[entry + 8..<entry + 12]))
        }
        return fields
    }

    /// The offset of the directory that follows the one at an offset; nil when there is none.
    func next(after offset: Int) throws(MediaError) -> Int? {
        guard let size = try bytes(at: offset, count: 2),
            let link = try bytes(at: offset + 2 + 12 * number(size[...]), count: 4)
        else { return nil }
        let next = number(link[...])
        return next >= 8 ? next : nil
    }

    /// The bytes of a field without a type, the first `limit` of them.
    func data(_ field: Field?, limit: Int) throws(MediaError) -> [UInt8]? {
        guard let field, field.type == 7, field.count > 0 else { return nil }
        return try bytes(of: field, min(field.count, limit))
    }

    /// A single whole number of any type; nil when it is negative.
    func integer(_ field: Field?) -> Int? {
        guard let field, field.count == 1 else { return nil }
        switch field.type {
        case 1: return field.value.first.map { Int($0) }
        case 3: return number(field.value[..<2])
        case 4, 13: return number(field.value[...])
        // Signed: some programs write them where only positive ones have a meaning.
        case 8: return Self.positive(number(field.value[..<2]), bits: 16)
        case 9: return Self.positive(number(field.value[...]), bits: 32)
        default: return nil
        }
    }

    /// A text of at most 64 bytes, without what follows its first NUL.
    func text(_ field: Field?) throws(MediaError) -> String? {
        guard let field, field.type == 2, (1...64).contains(field.count), let bytes = try bytes(of: field, field.count)
        else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// A fixed number of fractions without sign; nil when one has no value.
    func fractions(_ field: Field?, count: Int) throws(MediaError) -> [Double]? {
        guard let field, field.type == 5, field.count == count, let bytes = try bytes(of: field, 8 * count)
        else { return nil }
        var values: [Double] = []
        for place in stride(from: 0, to: bytes.count, by: 8) {
            let divisor = number(bytes[place + 4..<place + 8])
            guard divisor > 0 else { return nil }
            values.append(Double(number(bytes[place..<place + 4])) / Double(divisor))
        }
        return values
    }

    private func bytes(of field: Field, _ count: Int) throws(MediaError) -> [UInt8]? {
        count <= 4 ? Array(field.value.prefix(count)) : try bytes(at: number(field.value[...]), count: count)
    }

    /// The bytes at an offset behind the head; nil unless they are all within the structure.
    private func bytes(at offset: Int, count: Int) throws(MediaError) -> [UInt8]? {
        guard offset >= 8, offset <= range.count - count else { return nil }
        let bytes = try source.read(at: range.lowerBound + offset, count: count)
        return bytes.count == count ? bytes : nil
    }

    private static func positive(_ number: Int, bits: Int) -> Int? { number >> (bits - 1) == 0 ? number : nil }

    /// The number that some bytes are in the structure's order.
    func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.number(isLittle: isLittle) }
}

/// The few EXIF tags that decide how a photo is shown, read entry by entry from a TIFF structure (EXIF 2.32, 4.6).
struct EXIF: Sendable, Hashable {
    private(set) var orientation = 1
    private(set) var customRendered: Int?
    private(set) var focalLength35mm: Int?

    /// Reads the structure in `range`; broken tags are left out, since a photo can be shown without them.
    init(_ source: some ByteSource, _ range: Range<Int>) throws(MediaError) {
        guard let tags = try TIFFStructure(source, range) else { return }
        let main = try tags.directory(at: tags.first)
        if let value = tags.integer(main[0x0112]), (1...8).contains(value) { orientation = value }
        guard let pointer = tags.integer(main[0x8769]) else { return }
        let details = try tags.directory(at: pointer)
        customRendered = tags.integer(details[0xA401])
        focalLength35mm = tags.integer(details[0xA405]).flatMap { $0 > 0 ? $0 : nil }
    }
}
