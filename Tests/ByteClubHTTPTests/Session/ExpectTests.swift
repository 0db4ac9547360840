import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct ExpectTests {
        @Test(
            "an upload never waits for a 100 that the server does not send",
            arguments: [("PUT", 1 << 10), ("PUT", 2 << 20), ("POST", 2 << 20), ("POST", 1), ("PATCH", 0)])
        func promptly(method: String, size: Int) async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withSession { session in
                _ = try await session.data(for: server.request())
                let request = server.request(HTTPRequest.Method(method) ?? .put)
                let body = Body.bytes(Array(repeating: 7, count: size))
                let time = try await ContinuousClock().measure {
                    for _ in 0..<12 {
                        let (bytes, _) = try await session.upload(for: request, from: body)
                        #expect(String(decoding: bytes, as: UTF8.self) == "\(size)")
                    }
                }
                #expect(time < .seconds(10), "libcurl would wait a second each time")
                #expect(server.requests.last?["expect"] == nil)
                #expect(server.requests.last?["content-length"] == "\(size)")
                #expect(server.requests.last?["content-type"] == nil)
            }
        }
    }
}
