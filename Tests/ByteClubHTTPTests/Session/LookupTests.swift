import Glibc
import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    /// The slow lookup needs a preloaded library, hence a process of its own and a C compiler.
    @Suite struct LookupTests {
        static let isChild = unsafe getenv("BYTECLUB_SLOW_LOOKUP") != nil

        @Test(
            "in a process whose name lookups take seconds, cancelling one is prompt",
            .enabled(if: SlowLookup.isPossible && !isChild))
        func preloaded() throws {
            let lookup = try #require(SlowLookup())
            #expect(lookup.run(filter: "LookupTests") == 0)
        }

        @Test(
            "cancelling during a name lookup that takes seconds is prompt and holds nothing else up",
            .enabled(if: isChild))
        func cancel() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withSession { session in
                let slow = session.dataTask(
                    HTTPRequest(method: .get, scheme: "http", authority: "name.slow.test", path: "/"))
                let start = ContinuousClock().now
                slow.resume()
                usleep(200_000)
                #expect(slow.state == .running, "the lookup has to be slow for this test to mean anything")
                _ = try await session.data(for: server.request())
                slow.cancel()
                let error = await failure { () async throws(TransferError) in try await slow.value }
                _ = try await session.data(for: server.request())
                #expect(error?.code == .cancelled && error?.phase == .resolve)
                #expect(start.duration(to: ContinuousClock().now) < .seconds(10), "the lookup takes thirty")
            }
        }
    }
}
