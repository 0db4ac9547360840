/// One entry of a TIFF directory to be written, big-endian (TIFF 6.0, section 2).
struct TIFFEntry {
    private let tag: Int
    private let type: Int
    private let count: Int
    private let value: [UInt8]

    init(_ tag: Int, short value: Int) {
        self.tag = tag
        type = 3
        count = 1
        self.value = [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value), 0, 0]
    }

    init(_ tag: Int, text: String) {
        self.tag = tag
        type = 2
        value = Array(text.utf8) + [0]
        count = value.count
    }

    private init(_ tag: Int, long value: Int) {
        self.tag = tag
        type = 4
        count = 1
        var bytes: [UInt8] = []
        bytes.append(uint32: UInt32(truncatingIfNeeded: value))
        self.value = bytes
    }

    /// A structure of a main directory and EXIF's; the entries stand in the order of their tags.
    static func structure(_ main: [TIFFEntry], exif: [TIFFEntry]) -> [UInt8] {
        var structure: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8]
        guard !exif.isEmpty else { return structure + directory(main, at: 8) }
        let size = directory(main + [TIFFEntry(0x8769, long: 0)], at: 8).count
        structure += directory(main + [TIFFEntry(0x8769, long: 8 + size)], at: 8)
        return structure + directory(exif, at: 8 + size)
    }

    private static func directory(_ entries: [TIFFEntry], at offset: Int) -> [UInt8] {
        var directory: [UInt8] = []
        var values: [UInt8] = []
        directory.append(uint16: entries.count)
        for entry in entries {
            directory.append(uint16: entry.tag)
            directory.append(uint16: entry.type)
            directory.append(uint32: UInt32(truncatingIfNeeded: entry.count))
            if entry.value.count <= 4 {
                directory += entry.value + [UInt8](repeating: 0, count: 4 - entry.value.count)
            } else {
                directory.append(uint32: UInt32(truncatingIfNeeded: offset + 6 + 12 * entries.count + values.count))
                // Values begin at even places.
                values += entry.value + (entry.value.count.isMultiple(of: 2) ? [] : [0])
            }
        }
        return directory + [0, 0, 0, 0] + values
    }
}
