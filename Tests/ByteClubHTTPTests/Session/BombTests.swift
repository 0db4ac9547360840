import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    /// A body that is a thousand times larger than its compressed form.
    @Suite struct BombTests {
        @Test("a decompression bomb stops at the limit in memory and in a file, and is never unpacked for a reader")
        func gzip() async throws {
            let folder = TemporaryFolder()
            let make = "head -c 67108864 /dev/zero | gzip -9 >\(folder.file("bomb"))"
            let made = ChildProcess("/bin/sh", ["-c", make])?.wait()
            let bomb = try #require(made == 0 ? folder.read("bomb") : nil)
            #expect(bomb.count < 100_000)
            let server = try FaultServer { peer, _ in
                peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n")
                return peer.send(bomb) ? .keep : .close
            }
            defer { server.stop() }
            try await withSession { session in
                var options = TaskOptions()
                options.maximumResponseBytes = 1 << 20
                let before = residentBytes()
                let memory = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(), options: options)
                }
                #expect(memory?.code == .bodyTooLarge)
                #expect(residentBytes() - before < 32 << 20)
                #expect(server.requests.last?["accept-encoding"]?.contains("gzip") == true)
                options.maximumBodyBytes = { _ in 1 << 20 }
                options.disposition = { _ in .download(to: folder.file("file")) }
                let file = await failure { () async throws(TransferError) in
                    try await session.data(for: server.request(), options: options)
                }
                #expect(file?.code == .bodyTooLarge)
                let (bytes, _) = try await session.bytes(for: server.request())
                var all: [UInt8] = []
                for try await chunk in bytes { all += chunk }
                #expect(all == bomb)
                #expect(server.requests.last?["accept-encoding"] == nil)
            }
            #expect(folder.names == ["bomb"])
        }
    }
}
