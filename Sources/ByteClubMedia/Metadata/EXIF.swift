/// The few EXIF tags that decide how a photo is shown, read entry by entry from a TIFF structure (EXIF 2.32, 4.6).
struct EXIF: Sendable, Hashable {
    private(set) var orientation = 1
    private(set) var customRendered: Int?
    private(set) var focalLength35mm: Int?

    /// Reads the structure in `range`; what is broken is left out, since a photo is shown without it too.
    init(_ source: borrowing some ByteSource & ~Copyable, _ range: Range<Int>) throws(MediaError) {
        let head = try source.read(at: range.lowerBound, count: min(8, range.count))
        guard head.count == 8, head[0] == head[1], head[0] == 0x49 || head[0] == 0x4D else { return }
        let isLittle = head[0] == 0x49
        let first = Self.number(head[4..<8], isLittle)
        let main = try Self.entries(source, range, at: first, isLittle)
        if let value = main[0x0112], (1...8).contains(value) { orientation = value }
        guard let pointer = main[0x8769] else { return }
        let details = try Self.entries(source, range, at: pointer, isLittle)
        customRendered = details[0xA401]
        focalLength35mm = details[0xA405].flatMap { $0 > 0 ? $0 : nil }
    }

    /// The short and long values of one directory, each of count one, by tag.
    private static func entries(
        _ source: borrowing some ByteSource & ~Copyable, _ range: Range<Int>, at offset: Int, _ isLittle: Bool
    ) throws(MediaError) -> [Int: Int] {
        guard offset >= 8, offset <= range.count - 2 else { return [:] }
        let size = try source.read(at: range.lowerBound + offset, count: 2)
        guard size.count == 2 else { return [:] }
        // No camera writes more than a few dozen entries; 340 of them are 4 KiB.
        let count = min(number(size[...], isLittle), 340)
        let room = min(12 * count, range.count - offset - 2)
        let bytes = try source.read(at: range.lowerBound + offset + 2, count: room)
        var values: [Int: Int] = [:]
        for entry in stride(from: 0, to: bytes.count - 11, by: 12) {
            let tag = number(bytes[entry..<entry + 2], isLittle)
            guard values[tag] == nil, number(bytes[entry + 4..<entry + 8], isLittle) == 1 else { continue }
            switch number(bytes[entry + 2..<entry + 4], isLittle) {
            case 3: values[tag] = number(bytes[entry + 8..<entry + 10], isLittle)
            case 4: values[tag] = number(bytes[entry + 8..<entry + 12], isLittle)
            default: break
            }
        }
        return values
    }

    private static func number(_ bytes: ArraySlice<UInt8>, _ isLittle: Bool) -> Int {
        isLittle ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
