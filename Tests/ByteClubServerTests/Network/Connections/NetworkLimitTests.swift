import ByteClubCore
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

/// Clients at several addresses: 127.0.0.1 and its neighbours.
@Suite struct NetworkLimitTests {
    private static let limit = 64

    private static func info(_ server: TestServer) -> [UInt8] {
        Array("GET /1/account/info HTTP/1.1\r\nHost: x\r\n\(server.bearer)\r\n\r\n".utf8)
    }

    /// What a request from an address is answered with.
    private static func status(_ server: TestServer, from host: UInt8) async -> Int {
        let (port, request) = (server.port, info(server))
        return await BackgroundThread.run {
            guard let connection = RawConnection(port: port, from: LoopbackAddress(0, host)) else { return -1 }
            connection.send(request)
            return RawMessage(connection.receive())?.status ?? 0
        }
    }

    @Test("an address has an eighth of the places, and no more, for requests that are under way")
    func share() async throws {
        try await TestServer.run(adjusting: { $0.connections.connections = Self.limit }) { server in
            let port = server.port
            let cursor = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            let poll = Array("GET /1/longpoll_delta?cursor=\(cursor)&timeout=480 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            let polls = await BackgroundThread.run { () -> Crowd in
                let polls = Crowd(Self.limit / 8, port: port, from: LoopbackAddress(0, 2))
                #expect(polls.send(poll) == Self.limit / 8)
                return polls
            }
            try await eventually("they wait") { server.store.waiterCount == Self.limit / 8 }
            #expect(await Self.status(server, from: 2) == 503)
            #expect(await Self.status(server, from: 3) == 200)
            #expect(polls.count == server.store.waiterCount)
        }
    }

    @Test("nobody keeps a place with the rest of a body that nobody reads")
    func unreadBody() async throws {
        try await TestServer.run { server in
            let port = server.port
            let head =
                "PUT /1/files_put/auto/a.md HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 8000000\r\n\r\n"
            let connections = server.club.monitor.connections
            let (status, isFree) = await BackgroundThread.run { () -> (Int?, Bool) in
                guard let connection = RawConnection(port: port) else { return (nil, false) }
                connection.send(Array(head.utf8))
                for _ in 0..<30 {
                    connection.send([7])
                    usleep(5_000)
                }
                let status = RawMessage(connection.receiveAll())?.status
                for _ in 0..<12_000 where connections.open > 0 { usleep(10_000) }
                return (status, connections.open == 0)
            }
            #expect(status == 401 && isFree)
        }
    }

    @Test("nobody keeps others out from many addresses either: who waits longest for nothing makes room")
    func manyAddresses() async throws {
        try await TestServer.run(adjusting: { $0.connections.connections = 24 }) { server in
            let port = server.port
            let first = await BackgroundThread.run { Crowd(8, port: port, from: LoopbackAddress(0, 2)) }
            try await eventually("they wait longest") { server.club.monitor.connections.open == 8 }
            let others = await BackgroundThread.run {
                [Crowd(8, port: port, from: LoopbackAddress(0, 3)), Crowd(8, port: port, from: LoopbackAddress(0, 4))]
            }
            try await eventually("all places are taken") { server.club.monitor.connections.open == 24 }
            let status = await Self.status(server, from: 5)
            #expect(status == 200)
            #expect(server.club.monitor.connections.totals.displaced == 1)
            // It was one of the first, and is told why instead of being cut off.
            try await eventually("it is told") {
                await BackgroundThread.run { first.look(upTo: 4096) }.contains { $0.hasPrefix("HTTP/1.1 503 ") }
            }
            #expect(others.count == 2)
        }
    }

    @Test("a trusted proxy, which carries the requests of many, has as many places as it takes")
    func proxy() async throws {
        try await TestServer.run(adjusting: {
            $0.connections.connections = Self.limit
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
        }) { server in
            let (port, request) = (server.port, Self.info(server))
            let answers = await BackgroundThread.run { () -> [String] in
                let crowd = Crowd(Self.limit, port: port)
                _ = crowd.send(request)
                return crowd.receive(upTo: 12)
            }
            #expect(answers.count { $0 == "HTTP/1.1 200" } == Self.limit, "\(answers)")
            #expect(server.club.monitor.connections.totals.displaced == 0)
        }
    }
}
