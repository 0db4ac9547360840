import Testing

@testable import ByteClubHTTP

struct BodyRingTests {
    @Test("every byte comes out once and in order, never more than the high water is held, and nobody waits forever")
    func random() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix(state: seed)
        var ring = BodyRing()
        let pattern = (0..<(128 << 10)).map { UInt8($0 % 251) }
        var (written, read) = (0, 0)
        var (isStopped, stops) = (false, 0)
        for step in 0..<4000 {
            // Now the writer is faster, now the reader.
            if !isStopped, Int.random(in: 0..<40, using: &random) > (step / 500 % 2 == 0 ? 0 : 28) {
                let size = Bool.random(using: &random) ? Int.random(in: 1...10, using: &random) : 16 << 10
                if ring.hasRoom(for: size) {
                    let start = written % 251
                    unsafe pattern[start..<(start + size)].withUnsafeBytes { unsafe ring.append($0) }
                    written += size
                } else {
                    isStopped = true
                    stops += 1
                }
            } else {
                let (bytes, releases) = ring.take()
                if let bytes {
                    let start = read % 251
                    #expect(bytes == Array(pattern[start..<(start + bytes.count)]), "seed \(seed)")
                    #expect((1...(64 << 10)).contains(bytes.count), "seed \(seed)")
                    read += bytes.count
                } else {
                    #expect(!isStopped, "seed \(seed)")
                }
                if releases {
                    #expect(isStopped && ring.count <= BodyRing.lowWater, "seed \(seed)")
                    isStopped = false
                }
            }
            #expect(ring.count == written - read && ring.count <= BodyRing.highWater, "seed \(seed)")
            #expect(ring.isHolding == isStopped, "seed \(seed)")
        }
        #expect(stops > 0, "seed \(seed)")
    }

    @Test("a piece larger than the ring is taken while little is held")
    func large() {
        var ring = BodyRing()
        #expect(ring.hasRoom(for: 2 << 20) == true)
        ring.append(whole: Array(repeating: 1, count: 2 << 20))
        #expect(ring.hasRoom(for: 1) == false)
        let (bytes, releases) = ring.take()
        #expect(bytes?.count == 2 << 20 && releases)
        #expect(ring.hasRoom(for: 1) == true)
    }
}
