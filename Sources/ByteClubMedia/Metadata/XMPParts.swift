/// Collects where a photo's XMP lies: standard packets, each in one segment, and the parts of an extended one (XMP
/// Specification, part 3, 1.1.3).
struct XMPParts {
    /// One segment of an extended packet.
    private struct Part {
        /// The digest by which the standard packet announces the extended one.
        let packet: ArraySlice<UInt8>
        /// The length of the whole packet.
        let whole: Int
        /// Where in the packet the part belongs; parts may lie in the file in any order.
        let offset: Int
        let bytes: Range<Int>
    }

    /// How much of a segment's body says what of the XMP it is.
    static let headBytes = 75
    /// Later standard packets are not read: there is one as a rule, and another where a program added its own.
    private static let mostStandard = 8
    /// A longer extended packet is not read; the sounds and pictures in real ones take some MiB.
    private static let longestExtended = 16 << 20

    private var packets: [Range<Int>] = []
    private var parts: [Part] = []

    /// Takes a segment if its first ``headBytes`` say that it is of the XMP.
    mutating func add(_ body: Range<Int>, start: [UInt8]) {
        if start.starts(with: "http://ns.adobe.com/xap/1.0/\0") {
            if packets.count < Self.mostStandard { packets.append(body.dropFirst(29)) }
        } else if start.count == Self.headBytes, start.starts(with: "http://ns.adobe.com/xmp/extension/\0") {
            let number = { (bytes: ArraySlice<UInt8>) in bytes.reduce(0) { $0 << 8 | Int($1) } }
            parts.append(
                Part(
                    packet: start[35..<67], whole: number(start[67..<71]), offset: number(start[71..<75]),
                    bytes: body.dropFirst(Self.headBytes)))
        }
    }

    /// The standard packets in the file's order, without their signatures.
    func standard(_ source: borrowing some ByteSource & ~Copyable) throws(MediaError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for range in packets { found.append(try source.read(at: range.lowerBound, count: range.count)) }
        return found
    }

    /// The extended packet that standard ones announce; none unless it is all there.
    func extended(
        _ source: borrowing some ByteSource & ~Copyable, announcedIn standard: [[UInt8]]
    ) throws(MediaError) -> [[UInt8]] {
        guard !parts.isEmpty else { return [] }
        let notes = standard.lazy.map { XMPPacket.properties(of: "http://ns.adobe.com/xmp/note/", in: $0) }
        guard let name = notes.compactMap({ $0["HasExtendedXMP"] }).first else { return [] }
        let own = parts.filter { $0.packet.elementsEqual(name.utf8) }.sorted { $0.offset < $1.offset }
        guard let whole = own.first?.whole, whole <= Self.longestExtended else { return [] }
        var packet: [UInt8] = []
        for part in own where part.offset == packet.count && part.bytes.count <= whole - packet.count {
            packet += try source.read(at: part.bytes.lowerBound, count: part.bytes.count)
        }
        return packet.count == whole ? [packet] : []
    }
}
