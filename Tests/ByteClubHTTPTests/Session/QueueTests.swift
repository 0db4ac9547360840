import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    /// What very many tasks cost; `BYTECLUB_QUEUED` is how many wait at once (20,000), `BYTECLUB_REQUESTS` how many are
    /// made one after another (20,000).
    @Suite struct QueueTests {
        private static func number(_ name: String) -> Int? {
            unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
        }

        @Test("a task that waits costs little beside what its maker holds, and all of it is given back")
        func queued() async throws {
            let count = Self.number("BYTECLUB_QUEUED") ?? 20_000
            let server = try FaultServer { peer, _ in
                peer.waitForEnd()
                return .close
            }
            defer { server.stop() }
            try await withSession {
                $0.maximumTasksPerHost = 1
            } _: { session in
                let tasks = (0..<count).map { _ in session.dataTask(server.request()) }
                let before = residentBytes()
                for task in tasks { task.resume() }
                await server.received(1)
                try await eventually("all wait") { Transfer.liveCount.load(ordering: .relaxed) == count }
                let each = (residentBytes() - before) / count
                print("\(count) waiting tasks: \(each) bytes each")
                #expect(each <= 800)
                await session.invalidateAndCancel()
                #expect(Transfer.liveCount.load(ordering: .relaxed) == 0)
            }
        }

        @Test("requests one after another leave no memory behind")
        func slope() async throws {
            let count = Self.number("BYTECLUB_REQUESTS") ?? 20_000
            // One connection that is served within one call, so that the server remembers none of them.
            let server = try FaultServer { peer, _ in
                repeat { peer.respond(200, "body") } while peer.readHead() != nil
                return .close
            }
            defer { server.stop() }
            try await withSession {
                $0.maximumTasksPerHost = 1
            } _: { session in
                for _ in 0..<2000 { _ = try await session.data(for: server.request()) }
                let before = residentBytes()
                for _ in 0..<count { _ = try await session.data(for: server.request()) }
                let grown = residentBytes() - before
                print("\(count) requests left \(grown) bytes")
                // A leaked handle or transfer would need a hundred times as much.
                #expect(grown < (4 << 20) + 32 * count)
            }
            #expect(server.accepts == 1)
        }

        @Test("a handle that was used for http and then for https leaves no memory behind")
        func schemes() async throws {
            let count = 2_000
            let server = try FaultServer { peer, _ in
                repeat { peer.respond(200, "body") } while peer.readHead() != nil
                return .close
            }
            defer { server.stop() }
            let closed = try LoopbackListener().port
            let https = HTTPRequest(method: .get, scheme: "https", authority: "127.0.0.1:\(closed)", path: "/")
            try await withSession {
                $0.maximumTasksPerHost = 1
            } _: { session in
                // A failed handle is not reused, so each https request uses another one from http.
                var grown: [Int] = []
                for _ in 0..<4 {
                    let before = residentBytes()
                    for _ in 0..<count {
                        _ = try await session.data(for: server.request())
                        let error = await failure { () async throws(TransferError) in
                            try await session.data(for: https)
                        }
                        #expect(error?.code == .cannotConnect)
                    }
                    grown.append(residentBytes() - before)
                }
                print("\(count) changes from http to https left \(grown) bytes")
                // Each could leave 920 bytes, the table of TLS sessions that libcurl makes for the handle alone.
                #expect(grown.dropFirst().min() ?? .max < 460 * count)
            }
        }
    }
}
