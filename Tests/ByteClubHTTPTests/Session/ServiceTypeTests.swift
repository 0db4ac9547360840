import Glibc
import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension Peer {
    /// The traffic class of the packet that made the connection (ip(7), IP_RECVTOS and IP_PKTOPTIONS).
    var trafficClass: UInt8? {
        var one: Int32 = 1
        // IP_RECVTOS, then IP_PKTOPTIONS: a control message of the level IPPROTO_IP and the type IP_TOS.
        guard unsafe setsockopt(descriptor, Int32(IPPROTO_IP), 13, &one, 4) == 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 256)
        var length = socklen_t(bytes.count)
        guard unsafe getsockopt(descriptor, Int32(IPPROTO_IP), 9, &bytes, &length) == 0, length > 16 else { return nil }
        return bytes[8..<12].allSatisfy { $0 == 0 } && bytes[12] == 1 ? bytes[16] : nil
    }
}

extension Live {
    @Suite struct ServiceTypeTests {
        /// A server that writes down the traffic class of each request's connection.
        private func server(_ classes: Log<UInt8?>) throws -> FaultServer {
            try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                classes.add(peer.trafficClass)
                return peer.respond(200) ? .keep : .close
            }
        }

        @Test("a session's connections carry its service type and are used again", arguments: ServiceType.allCases)
        func session(type: ServiceType) async throws {
            let classes = Log<UInt8?>()
            let server = try server(classes)
            defer { server.stop() }
            try await withSession {
                $0.serviceType = type
            } _: { session in
                var same = TaskOptions()
                same.serviceType = type
                _ = try await session.data(for: server.request())
                _ = try await session.data(for: server.request(), options: same)
                #expect(classes.entries == Array(repeating: UInt8(type.codePoint << 2), count: 2))
                #expect(server.accepts == 1)
            }
        }

        @Test("a task of another type has a connection of its own, which no other task uses")
        func task() async throws {
            let classes = Log<UInt8?>()
            let server = try server(classes)
            defer { server.stop() }
            try await withSession { session in
                var (background, voice) = (TaskOptions(), TaskOptions())
                background.serviceType = .background
                voice.serviceType = .voice
                let options = [TaskOptions(), background, TaskOptions(), background, voice, TaskOptions()]
                for each in options { _ = try await session.data(for: server.request(), options: each) }
                #expect(classes.entries == [0, 32, 0, 32, 184, 0])
                #expect(server.accepts == 4)
            }
            // The session's type is not that of a task that asks for none.
            try await withSession {
                $0.serviceType = .background
            } _: { session in
                var plain = TaskOptions()
                plain.serviceType = .default
                for each in [TaskOptions(), plain, TaskOptions()] {
                    _ = try await session.upload(for: server.request(.put), from: .bytes([1]), options: each)
                }
                #expect(classes.entries.suffix(3) == [32, 0, 32])
                #expect(server.accepts == 6)
            }
        }
    }
}
