import Testing

@testable import ByteClubRemotes

@Suite struct ChunkSizeTests {
    @Test("pieces grow to 64 MiB while they take well under a second, and shrink to 1 MiB while they take longer")
    func adapts() {
        var size = ChunkSize()
        #expect(size.bytes == 1 << 20)
        for _ in 0..<9 { size.adapt(to: .milliseconds(100), of: size.bytes) }
        #expect(size.bytes == 64 << 20)
        size.adapt(to: .milliseconds(600), of: size.bytes)
        #expect(size.bytes == 64 << 20)
        size.adapt(to: .milliseconds(1500), of: size.bytes)
        #expect(size.bytes == 32 << 20)
        for _ in 0..<9 { size.adapt(to: .seconds(9), of: size.bytes) }
        #expect(size.bytes == 1 << 20)
    }

    @Test("what was short teaches nothing about a fast line, and next to nothing is no slow one")
    func short() {
        var size = ChunkSize()
        size.adapt(to: .milliseconds(1), of: 100 << 10)
        size.adapt(to: .seconds(5), of: 10 << 10)
        #expect(size == ChunkSize())
    }

    @Test("where a rate is to be kept, a piece is a second's worth, and no more than 1 MiB")
    func limited() {
        var size = ChunkSize()
        for _ in 0..<9 { size.adapt(to: .milliseconds(1), of: size.bytes) }
        let pieces = [nil, 100 << 20, 500 << 10, 1].map { size.bytes(at: $0) }
        #expect(pieces == [64 << 20, 1 << 20, 500 << 10, 16 << 10])
    }
}
