import ByteClubCore
import MemoryRemote
import Testing

@Suite("MemoryRemote")
struct MemoryRemoteTests {
    @Test("a second member sees what the first stored")
    func sharing() async throws {
        let first = MemoryRemote(author: 1)
        let second = MemoryRemote(sharing: first, author: 2)
        let path = try RemotePath("/a.md")
        let stored = try await first.put(
            .bytes(Array("one".utf8)), at: path, condition: .create, policy: .fail, progress: nil)
        let read = try await second.content(at: path, revision: nil, range: nil, limit: 100)
        #expect(read.bytes == Array("one".utf8))
        #expect(read.metadata == stored)
    }
}
