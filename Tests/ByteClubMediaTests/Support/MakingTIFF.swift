/// A TIFF structure made for a test, of any directories in either byte order.
struct MakingTIFF {
    enum Value {
        case short(Int)
        case long(Int)
        case text(String)
        case fractions([(Int, Int)])
        case data([UInt8])
        /// A directory in a place of its own.
        case directory([Int: Value])
    }

    var main: [Int: Value]
    /// EXIF's second directory, whose picture follows it.
    var thumbnail: [UInt8]?
    var isLittle = true

    var bytes: [UInt8] {
        let head = (isLittle ? [0x49, 0x49] : [0x4D, 0x4D]) + number(42, 2) + number(8, 4)
        guard let thumbnail else { return head + directory(main, at: 8, next: 0) }
        let next = 8 + directory(main, at: 8, next: 0).count
        let second: [Int: Value] = [0x0201: .long(next + 30), 0x0202: .long(thumbnail.count)]
        return head + directory(main, at: 8, next: next) + directory(second, at: next, next: 0) + thumbnail
    }

    private func number(_ value: Int, _ size: Int) -> [UInt8] {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isLittle ? bytes : bytes.reversed()
    }

    private func directory(_ entries: [Int: Value], at offset: Int, next: Int) -> [UInt8] {
        var fields = number(entries.count, 2)
        var values: [UInt8] = []
        for (tag, value) in entries.sorted(by: { $0.key < $1.key }) {
            let place = offset + 6 + 12 * entries.count + values.count
            let (type, count, bytes): (Int, Int, [UInt8]) =
                switch value {
                case .short(let short): (3, 1, number(short, 2))
                case .long(let long): (4, 1, number(long, 4))
                case .text(let text): (2, text.utf8.count + 1, Array(text.utf8) + [0])
                case .fractions(let parts): (5, parts.count, parts.flatMap { number($0.0, 4) + number($0.1, 4) })
                case .data(let data): (7, data.count, data)
                case .directory(let inner): (4, 1, directory(inner, at: place, next: 0))
                }
            fields += number(tag, 2) + number(type, 2) + number(count, 4)
            if case .directory = value {
                fields += number(place, 4)
                values += bytes
            } else if bytes.count <= 4 {
                fields += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
            } else {
                fields += number(place, 4)
                values += bytes + (bytes.count.isMultiple(of: 2) ? [] : [0])
            }
        }
        return fields + number(next, 4) + values
    }
}
