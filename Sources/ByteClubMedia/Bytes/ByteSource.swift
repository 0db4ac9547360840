package import ByteClubFiles
internal import Glibc

/// Bytes that can be read anywhere, whether they lie in memory or in a file.
protocol ByteSource {
    /// How many bytes there are.
    var count: Int { get }

    /// Reads up to `count` bytes at `offset`; fewer at the end, none beyond it.
    func read(at offset: Int, count: Int) throws(MediaError) -> [UInt8]
}

extension ByteSource {
    func readAll() throws(MediaError) -> [UInt8] {
        try read(at: 0, count: count)
    }
}

/// Bytes in memory as a source.
struct MemorySource: ByteSource {
    let bytes: [UInt8]

    var count: Int { bytes.count }

    func read(at offset: Int, count: Int) throws(MediaError) -> [UInt8] {
        guard offset >= 0, count > 0, offset < bytes.count else { return [] }
        return Array(bytes[offset..<min(bytes.count, offset.addingClamped(count))])
    }
}

extension Int {
    func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// A regular file open for reading at any offset; closed with the last use.
///
/// Reads use `pread(2)` and not a mapping, so a file that another process truncates gives fewer bytes, not a signal.
final class FileSource: ByteSource {
    let path: String
    let count: Int
    private let file: OwnedDescriptor<MediaError>

    /// Opens a file; with `followsLinks` false, what a symbolic link at the path itself points to is not read.
    init(path: String, followsLinks: Bool = true) throws(MediaError) {
        guard !path.utf8.contains(0) else { throw MediaError(.io, "a path with a NUL in it cannot be opened") }
        guard let (file, status) = try OwnedDescriptor<MediaError>.regularFile(path, followsLinks ? 0 : O_NOFOLLOW)
        else {
            throw MediaError(.io, "\(path): not a regular file")
        }
        self.path = path
        self.file = file
        count = Int(status.size)
    }

    func read(at offset: Int, count wanted: Int) throws(MediaError) -> [UInt8] {
        guard offset >= 0, wanted > 0, offset < count else { return [] }
        return try file.read(min(wanted, count - offset), at: Int64(offset))
    }
}

extension MediaError: FileFailureConvertible {
    /// Describes why the system refused to do something with a file.
    package init(_ failure: FileFailure) {
        let (operation, path) = (failure.operation, failure.path)
        let refused = operation == "create" ? "create a file in \(parentFolder(of: path))" : "\(operation) \(path)"
        self.init(.io, "cannot \(refused): \(failure.reason)")
    }
}

extension ArraySlice<UInt8> {
    /// The number that the bytes are, the highest first unless it is little-endian.
    func number(isLittle: Bool = false) -> Int {
        isLittle ? reversed().reduce(0) { $0 << 8 | Int($1) } : reduce(0) { $0 << 8 | Int($1) }
    }
}

extension [UInt8] {
    /// The big-endian number at `offset`, or nil when it is not all there.
    func uint16(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return Int(self[offset]) << 8 | Int(self[offset + 1])
    }

    mutating func append(uint16 value: Int) {
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    mutating func append(uint32 value: UInt32) {
        append(uint16: Int(value >> 16))
        append(uint16: Int(value & 0xFFFF))
    }

    /// The big-endian number of 32 bits at `offset`, or nil when it is not all there.
    func uint32(at offset: Int) -> Int? {
        guard let high = uint16(at: offset), let low = uint16(at: offset + 2) else { return nil }
        return high << 16 | low
    }

    /// Adds a JPEG's segment: its marker, its length, which counts itself, and its body.
    mutating func append(segment marker: UInt8, _ body: some Collection<UInt8>) {
        self += [0xFF, marker]
        append(uint16: body.count + 2)
        self += body
    }

    func starts(with text: StaticString, at offset: Int = 0) -> Bool {
        let size = text.utf8CodeUnitCount
        guard offset >= 0, offset <= count - size else { return false }
        return unsafe self[offset..<offset + size].elementsEqual(
            UnsafeBufferPointer(start: text.utf8Start, count: size))
    }
}
