import ByteClubCore
import MemoryRemote
import TestSupport
import Testing

@Suite("MemoryRemote is a remote")
struct MemoryRemoteConformanceTests {
    @Test("each claim about remotes holds", arguments: RemoteConformance.cases + RemoteConformance.syncCases)
    func conforms(_ claim: RemoteConformanceCase) async throws {
        // The picture's size alone: what thumbnails look like is another's business.
        let remote = MemoryRemote(author: 1, pageSize: 7) { bytes, size, _ in
            bytes.starts(with: [0xFF, 0xD8, 0xFF]) ? [0xFF, 0xD8, 0xFF] + Array(repeating: 0, count: size.width) : nil
        }
        try await claim.run(remote, MemoryRemote(sharing: remote, author: 2))
    }
}
