internal import CZlib

/// The records of a zip file (PKWARE's APPNOTE 6.3), for entries that are stored without compression.
///
/// It is pure: the caller writes what it returns, and each entry's bytes in between. Its memory is the directory at the
/// file's end: some hundred bytes an entry.
struct ZipWriter {
    /// What a file or a folder is called and when it was changed.
    struct Entry: Hashable, Sendable {
        /// The path with slashes, without one at the start or the end.
        var name: String
        var isFolder = false
        var isExecutable = false
        /// Seconds since 1970.
        var modified: Int64
    }

    /// An entry of which only the length and the sum are missing.
    private struct Open {
        let entry: Entry
        let name: [UInt8]
        let start: UInt64
        let hasDescriptor: Bool
        let isLong: Bool
    }

    private static let most32 = UInt64(UInt32.max)
    private static let most16 = UInt64(UInt16.max)
    /// The versions of the format that entries need: folders and stored files, and zip64.
    private static let (plainVersion, longVersion) = (UInt16(20), UInt16(45))
    /// Names are UTF-8.
    private static let unicodeFlag: UInt16 = 1 << 11
    /// Length and sum follow the bytes.
    private static let descriptorFlag: UInt16 = 1 << 3

    /// The bytes so far.
    private(set) var offset: UInt64
    /// The entries so far.
    private(set) var count: UInt64 = 0
    private var directory: [UInt8] = []
    private var open: Open?

    /// Starts a file at an offset, which tests choose.
    init(at offset: UInt64 = 0) {
        self.offset = offset
    }

    /// The record before the bytes of an entry.
    ///
    /// Readers of streams get along better with a sum that comes first; without one it follows the bytes.
    mutating func begin(_ entry: Entry, length: UInt64, sum: UInt32?) -> [UInt8] {
        let name = Array((entry.isFolder ? entry.name + "/" : entry.name).utf8)
        let isLong = length >= Self.most32
        open = Open(entry: entry, name: name, start: offset, hasDescriptor: sum == nil, isLong: isLong)
        var extra = Self.time(entry)
        if isLong {
            extra.append(UInt16(1), UInt16(16))
            extra.append(length, length)
        }
        let shown = isLong ? UInt32.max : sum == nil ? 0 : UInt32(length)
        var record: [UInt8] = []
        record.append(UInt32(0x0403_4B50))
        record.append(isLong ? Self.longVersion : Self.plainVersion)
        record.append(Self.unicodeFlag | (sum == nil ? Self.descriptorFlag : 0), 0)
        record.append(contentsOf: Self.dosTime(entry.modified))
        record.append(sum ?? 0, shown, shown)
        record.append(UInt16(clamping: name.count), UInt16(extra.count))
        record += name + extra
        offset += UInt64(record.count)
        return record
    }

    /// The record after the bytes of an entry, which may be empty.
    mutating func end(length: UInt64, sum: UInt32) -> [UInt8] {
        guard let entry = open else { return [] }
        open = nil
        offset += length
        var record: [UInt8] = []
        if entry.hasDescriptor {
            record.append(UInt32(0x0807_4B50), sum)
            if entry.isLong {
                record.append(length, length)
            } else {
                record.append(UInt32(length), UInt32(length))
            }
            offset += UInt64(record.count)
        }
        list(entry, length: length, sum: sum)
        return record
    }

    /// The directory and the end of the file.
    mutating func finish() -> [UInt8] {
        let (start, size) = (offset, UInt64(directory.count))
        var file = directory
        directory = []
        if count >= Self.most16 || size >= Self.most32 || start >= Self.most32 {
            let end = start + size
            file.append(UInt32(0x0606_4B50))
            file.append(UInt64(44))
            file.append(Self.maker, Self.longVersion)
            file.append(UInt32(0), 0)
            file.append(count, count, size, start)
            file.append(UInt32(0x0706_4B50), 0)
            file.append(end)
            file.append(UInt32(1))
        }
        file.append(UInt32(0x0605_4B50))
        file.append(UInt16(0), 0, UInt16(min(count, Self.most16)), UInt16(min(count, Self.most16)))
        file.append(UInt32(min(size, Self.most32)), UInt32(min(start, Self.most32)))
        file.append(UInt16(0))
        offset += UInt64(file.count)
        return file
    }

    /// Made on Unix, whose permissions the directory has.
    private static let maker: UInt16 = 3 << 8 | longVersion

    private mutating func list(_ open: Open, length: UInt64, sum: UInt32) {
        let isFar = open.start >= Self.most32
        var extra = Self.time(open.entry)
        let long = (open.isLong ? [length, length] : []) + (isFar ? [open.start] : [])
        if !long.isEmpty {
            extra.append(UInt16(1), UInt16(8 * long.count))
            for number in long { extra.append(number) }
        }
        let shown = open.isLong ? UInt32.max : UInt32(length)
        let entry = open.entry
        let mode: UInt32 = entry.isFolder ? 0o40755 : entry.isExecutable ? 0o100755 : 0o100644
        directory.append(UInt32(0x0201_4B50))
        directory.append(Self.maker, long.isEmpty ? Self.plainVersion : Self.longVersion)
        directory.append(Self.unicodeFlag | (open.hasDescriptor ? Self.descriptorFlag : 0), 0)
        directory.append(contentsOf: Self.dosTime(entry.modified))
        directory.append(sum, shown, shown)
        directory.append(UInt16(clamping: open.name.count), UInt16(extra.count), 0, 0, 0)
        directory.append(mode << 16 | (entry.isFolder ? 0x10 : 0), isFar ? UInt32.max : UInt32(open.start))
        directory += open.name + extra
        count += 1
    }

    /// Info-ZIP's extra field for the time of the last change, in UTC; empty for one that it cannot tell.
    private static func time(_ entry: Entry) -> [UInt8] {
        guard let seconds = Int32(exactly: entry.modified) else { return [] }
        var field: [UInt8] = []
        field.append(UInt16(0x5455), UInt16(5))
        field.append(UInt8(1))
        field.append(UInt32(bitPattern: seconds))
        return field
    }

    /// The time and the date of MS-DOS, from 1980 to 2107, in UTC.
    static func dosTime(_ seconds: Int64) -> [UInt8] {
        let bounded = min(max(seconds, 315_532_800), 4_354_819_198)
        let (days, rest) = (bounded / 86_400, bounded % 86_400)
        // Howard Hinnant's days to civil date, for years after 1970.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let day = shifted - era * 146_097
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let ofYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let ofMonth = ofYear - (153 * month + 2) / 5 + 1
        let civilMonth = month < 10 ? month + 3 : month - 9
        let civilYear = year + era * 400 + (civilMonth <= 2 ? 1 : 0)
        var fields: [UInt8] = []
        fields.append(UInt16((rest / 3600) << 11 | (rest % 3600 / 60) << 5 | (rest % 60) / 2))
        fields.append(UInt16((civilYear - 1980) << 9 | civilMonth << 5 | ofMonth))
        return fields
    }
}

/// The sum by which zip files find damage (CRC-32).
struct ZipSum: Hashable, Sendable {
    private(set) var value: UInt32 = 0

    /// Adds bytes.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = unsafe bytes.bindMemory(to: UInt8.self).baseAddress else { return }
        value = UInt32(truncatingIfNeeded: unsafe crc32_z(uLong(value), start, bytes.count))
    }

    /// The sum of bytes.
    static func of(_ bytes: [UInt8]) -> UInt32 {
        var sum = ZipSum()
        unsafe bytes.withUnsafeBytes { unsafe sum.add($0) }
        return sum.value
    }
}

extension [UInt8] {
    /// Appends numbers with their lowest bytes first.
    fileprivate mutating func append<Number: FixedWidthInteger>(_ numbers: Number...) {
        for number in numbers {
            for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
                append(UInt8(truncatingIfNeeded: number >> Number(shift)))
            }
        }
    }
}
