import ByteClubCore
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

@Suite("Photos travel in groups") struct PhotoGroupTests {
    private static let photos = 300

    @Test("three hundred photos go up in some requests, arrive as they are, and leave nothing in staging or trash")
    func library() async throws {
        let server = MemoryRemote()
        let one = try Device(MemoryRemote(sharing: server, author: 1))
        let two = try Device(MemoryRemote(sharing: server, author: 2))
        for number in 0..<Self.photos {
            one.write("album-\(number % 7)/\(number).jpg", noise(70_000 + number, seed: UInt64(number)))
        }
        let calls = Calls(of: one.remote)
        let up = try await one.sync()
        #expect(up.uploaded == Self.photos && up.isComplete)
        // Of 21 MB, at least 1 MiB goes in each request, however slow the machine is.
        let sent = calls[.putChunks]
        #expect(calls[.putChunk] == 0 && (1...22).contains(sent))
        #expect(calls[.missingChunks] == sent && calls[.apply] <= sent + 10)
        let fetched = Calls(of: two.remote)
        let down = try await two.sync()
        #expect(down.downloaded == Self.photos && down.isComplete)
        #expect(fetched[.content] == Self.photos && fetched[.download] == 0)
        #expect(two.files() == one.files())
        #expect(two.isStagingEmpty && two.trash.isEmpty && one.trash.isEmpty)
        #expect(try await one.sync().uploaded == 0)
        #expect(calls[.putChunks] == sent, "a second sync sends nothing")
    }

    @Test("a server that takes one chunk at a time gets them so, and the mirrors are equal")
    func older() async throws {
        let server = MemoryRemote(bulkChunks: false)
        let one = try Device(MemoryRemote(sharing: server, author: 1))
        let two = try Device(MemoryRemote(sharing: server, author: 2))
        for number in 0..<5 { one.write("\(number).jpg", noise(100_000, seed: UInt64(number))) }
        let calls = Calls(of: one.remote)
        #expect(try await one.sync().uploaded == 5)
        #expect(calls[.putChunk] == 5 && calls[.putChunks] == 0)
        try await two.sync()
        #expect(two.files() == one.files())
    }

    @Test("a large file that a photo has replaced goes up as that, and a photo that a large file has replaced, too")
    func replaced() async throws {
        let one = try Device(MemoryRemote())
        let (large, small) = (noise(17 << 20, seed: 1), noise(100_000, seed: 2))
        for bytes in [large, small, large] {
            one.write("a.jpg", bytes)
            #expect(try await one.sync().uploaded == 1)
            #expect(try await one.remote.metadata(at: RemotePath("/byteclub/a.jpg")).bytes == Int64(bytes.count))
        }
    }

    @Test("a photo that is there several times is sent once")
    func twins() async throws {
        let scene = MachineScene()
        let (bytes, names) = (noise(200_000, seed: 1), ["a.jpg", "b.jpg", "c.jpg"])
        for name in names { scene.disk.write(name, bytes) }
        var sent: [String] = []
        scene.machine.network.onWrite = { sent.append($0) }
        _ = try scene.sync().get()
        #expect(sent.filter { $0.contains("chunks") } == ["1 chunks: done"])
        for name in names {
            let there = try await scene.server.metadata(at: RemotePath("/" + name))
            #expect(there.contentHash == ContentHasher.hash(bytes))
        }
    }

    @Test("when a group or its answer is lost on its way, a later sync sends what is missing, and no photo becomes two")
    func lost() async throws {
        let server = MemoryRemote()
        let one = try Device(MemoryRemote(sharing: server, author: 1))
        let two = try Device(MemoryRemote(sharing: server, author: 2))
        for number in 0..<40 { one.write("\(number).jpg", noise(100_000, seed: UInt64(number))) }
        let faults: [(kind: MemoryOperation.Kind, moment: MemoryOperation.Moment)] = [
            (.putChunks, .before), (.putChunks, .after), (.apply, .after),
        ]
        for fault in faults {
            let isLost = Mutex(false)
            one.remote.fault = { operation throws(RemoteError) in
                guard operation.kind == fault.kind, operation.moment == fault.moment else { return }
                let wasLost = isLost.withLock { lost in
                    defer { lost = true }
                    return lost
                }
                if !wasLost { throw RemoteError(.unreachable, "connection lost") }
            }
            _ = try? await one.sync()
        }
        one.remote.fault = nil
        #expect(try await one.sync().isComplete)
        try await two.sync()
        #expect(two.files() == one.files() && two.files().count == 40)
        #expect(
            try await server.revisions(of: RemotePath("/byteclub/7.jpg"), before: nil, limit: 5).count == 1)
    }
}
