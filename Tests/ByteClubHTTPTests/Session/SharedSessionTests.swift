import Glibc
import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    /// The shared session keeps its handles as long as the program, which other tests count: hence another process.
    @Suite struct SharedSessionTests {
        static let isChild = unsafe getenv("BYTECLUB_SHARED_SESSION") != nil

        @Test("in a process of its own, the shared session does what it should", .enabled(if: !isChild))
        func apart() throws {
            let child = try #require(ChildProcess(running: "SharedSessionTests", ["BYTECLUB_SHARED_SESSION=1"]))
            #expect(child.wait() == 0)
        }

        @Test("the shared session is one, works, and is not ended by invalidating it", .enabled(if: isChild))
        func shared() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let session = try Session.shared
            let again = try Session.shared
            #expect(session === again)
            await session.invalidateAndCancel()
            await session.finishTasksAndInvalidate()
            let kept = session.dataTask(server.request())
            let (bytes, response) = try await again.data(for: server.request(.put), body: .bytes([1, 2, 3]))
            #expect(bytes == Array("3".utf8) && response.status == .ok)
            #expect(await session.tasks().map(\.id) == [kept.id])
            kept.cancel()
        }
    }
}
