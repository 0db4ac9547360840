/// A small progressive JPEG that is slow to decode: scan after scan refines every block of a large picture by nothing.
///
/// One code stands for up to 32,767 blocks without a change (ITU-T T.81, G.1.2.2), so that a scan is some 40 bytes,
/// while a decoder visits each coefficient of each block for it.
enum ProgressiveBomb {
    /// Makes a grey picture of `side` x `side` pixels.
    ///
    /// - Parameters:
    ///   - side: Pixels across and down, 8 to 65,528.
    ///   - scans: How many scans there are; at 500 some decoders stop.
    ///   - number: Written into a comment, so that no two bombs are one content.
    /// - Returns: The bytes of the file.
    static func make(side: Int, scans: Int, number: Int) -> [UInt8] {
        var bytes: [UInt8] = [0xFF, 0xD8]
        bytes += segment(0xFE, Array("bomb \(number)".utf8))
        bytes += segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
        let length = [UInt8(side >> 8), UInt8(side & 255)]
        bytes += segment(0xC2, [8] + length + length + [1, 1, 0x11, 0])
        // One code of one bit in either table: "no difference" for DC, "32,767 blocks at most" (EOB14) for AC.
        bytes += segment(0xC4, [0x00, 1] + [UInt8](repeating: 0, count: 15) + [0x00])
        bytes += segment(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0xE0])
        let blocks = (side / 8) * (side / 8)
        let runs = endOfBandRuns(blocks)
        let first = segment(0xDA, [1, 1, 0x00, 1, 63, 0x01]) + runs
        let refining = segment(0xDA, [1, 1, 0x00, 1, 63, 0x10]) + runs
        bytes += first
        for _ in 1..<max(2, scans) { bytes += refining }
        return bytes + [0xFF, 0xD9]
    }

    private static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        let length = body.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + body
    }

    /// Codes that say of so many blocks that nothing changes.
    private static func endOfBandRuns(_ blocks: Int) -> [UInt8] {
        var bits: [UInt8] = []
        var rest = blocks
        while rest > 0 {
            // A zero for the code itself, then fourteen bits that are added to 16,384.
            let run = min(max(rest, 16_384), 32_767)
            bits.append(0)
            for bit in (0..<14).reversed() { bits.append(UInt8((run - 16_384) >> bit & 1)) }
            rest -= run
        }
        while bits.count % 8 != 0 { bits.append(1) }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: bits.count, by: 8) {
            let byte = bits[start..<(start + 8)].reduce(0) { $0 << 1 | $1 }
            bytes.append(byte)
            if byte == 0xFF { bytes.append(0) }
        }
        return bytes
    }
}
