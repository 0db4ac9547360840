/// Bytes that can be read anywhere, whether they lie in memory or in a file.
protocol ByteSource: ~Copyable {
    /// How many bytes there are.
    var count: Int { get }

    /// Reads up to `count` bytes at `offset`; fewer at the end, none beyond it.
    func read(at offset: Int, count: Int) throws(MediaError) -> [UInt8]
}

extension ByteSource where Self: ~Copyable {
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
