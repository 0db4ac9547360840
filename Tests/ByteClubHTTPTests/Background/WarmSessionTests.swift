import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

/// Listens in place of a daemon, and hands each connection to the test.
private final class StandIn: Sendable {
    let service: BackgroundService
    private let folder = TemporaryFolder()
    private let descriptor: Int32
    private let lock: Int32

    init(_ serve: @escaping @Sendable (FrameConnection) -> Void) throws {
        service = BackgroundService(folder: folder.path, command: [])
        let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        descriptor = listening
        lock = try #require(try DaemonLock.take(service.lockPath))
        let address = try UnixAddress(service.socketPath)
        try #require(unsafe address.withPointer { unsafe bind(listening, $0, $1) } == 0 && listen(listening, 8) == 0)
        BackgroundThread.start {
            while true {
                let connection = accept(listening, nil, nil)
                if connection < 0 { break }
                BackgroundThread.start { serve(FrameConnection(descriptor: connection)) }
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
        close(lock)
    }

    /// Greets, then answers each call to relay a request.
    static func relaying(
        _ answer: @escaping @Sendable (RelayedRequest) async -> DaemonAnswer?
    ) throws -> StandIn {
        try StandIn { connection in
            while case .call(let number, let call) = try? connection.receive() {
                switch call {
                case .hello:
                    try? connection.send(.answer(number: number, .hello(version: DaemonFrame.version, process: 1)))
                case .relay(let request):
                    Task {
                        guard let answer = await answer(request) else { return connection.shutdown() }
                        try? connection.send(.answer(number: number, answer))
                    }
                default: return
                }
            }
        }
    }
}

extension Live {
    @Suite struct WarmSessionTests {
        private static let secret = HTTPField(name: .authorization, value: "Bearer secret")

        /// Makes one request over a daemon's connections.
        private func ask(
            _ request: HTTPRequest, over service: BackgroundService,
            _ configure: (inout SessionConfiguration) -> Void = { _ in }
        ) async throws -> (bytes: [UInt8], response: HTTPResponse) {
            var configuration = SessionConfiguration.ephemeral
            configuration.proxy = .none
            configuration.additionalHeaders.append(Self.secret)
            configure(&configuration)
            let warm = try #require(WarmConnections.find(service))
            let session = try WarmSession(configuration: configuration, name: "warm", over: warm)
            var options = TaskOptions()
            options.redirects = .ownOrigin
            let answer = try await session.data(for: request, options: options)
            try await session.session.invalidateAndCancel()
            return answer
        }

        @Test("a GET goes over the daemon's connections with the session's fields, and the next one reuses them")
        func warm() async throws {
            let server = try FaultServer { peer, request in
                peer.respond(200, request["authorization"] ?? "") ? .keep : .close
            }
            defer { server.stop() }
            let relay = Relay()
            let asked = Mutex(0)
            let daemon = try StandIn.relaying { request in
                asked.withLock { $0 += 1 }
                return await relay.perform(request)
            }
            for _ in 0..<3 {
                let (bytes, response) = try await ask(server.request(), over: daemon.service)
                #expect(response.status == 200 && String(decoding: bytes, as: UTF8.self) == "Bearer secret")
            }
            #expect(asked.withLock { $0 } == 3)
            #expect(server.accepts == 1)
            await relay.close()
        }

        @Test("the program makes the request itself if the daemon dies, answers nonsense or refuses")
        func passedBy() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let refusals: [@Sendable (RelayedRequest) async -> DaemonAnswer?] = [
                { _ in nil }, { _ in .done },
                { _ in .refused(code: "cannotConnect", message: "no") },
                { _ in .refused(code: "no such code", message: "no") },
                { _ in .relayed(RelayedResponse(response: HTTPResponse(status: .serviceUnavailable), bytes: [])) },
            ]
            for refusal in refusals {
                let daemon = try StandIn.relaying(refusal)
                let (bytes, response) = try await ask(server.request(), over: daemon.service)
                #expect(response.status == 200 && bytes == Array("0".utf8))
            }
            let strangers: [@Sendable (FrameConnection) -> Void] = [
                { _ = try? $0.receive() },
                { connection in
                    _ = try? connection.receive()
                    try? connection.send(.answer(number: 1, .hello(version: 77, process: 1)))
                    _ = try? connection.receive()
                    _ = try? connection.receive()
                },
                { connection in
                    try? connection.send(.event(.caughtUp))
                    _ = try? connection.receive()
                },
            ]
            for stranger in strangers {
                let daemon = try StandIn(stranger)
                #expect(try await ask(server.request(), over: daemon.service).response.status == 200)
            }
            #expect(server.requests.count == refusals.count + strangers.count)
        }

        @Test("the program makes the request itself if the daemon does not greet")
        func stuck() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let end = Gate()
            let daemon = try StandIn { connection in
                withExtendedLifetime(connection) { end.pass() }
            }
            #expect(try await ask(server.request(), over: daemon.service).response.status == 200)
            end.open()
        }

        @Test("a daemon that greets and answers no more is left when the request's time is over")
        func silent() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let end = Gate()
            let daemon = try StandIn.relaying { _ in
                await BackgroundThread.run { end.pass() }
                return nil
            }
            // Only the request to the daemon has so little time.
            let request = RelayedRequest(
                request: server.request(), timeoutForRequest: 1,
                maximumResponseBytes: 1 << 20, certificateAuthorityFile: nil, pinnedKeys: [])
            let warm = try #require(WarmConnections.find(daemon.service))
            for _ in 0..<2 {
                guard case .failure(let error) = await warm.perform(request) else {
                    throw TransferError(.other, "answered")
                }
                #expect(error.code == .sessionInvalid)
            }
            end.open()
        }

        @Test("the program makes requests itself that the daemon's session would make differently")
        func own() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let daemon = try StandIn.relaying { _ in .refused(code: "timedOut", message: "must not be asked") }
            #expect(try await ask(server.request(.put), over: daemon.service).response.status == 200)
            #expect(
                try await ask(server.request(), over: daemon.service) { $0.cookieStore = CookieStore() }
                    .response.status == 200)
            #expect(
                try await ask(server.request(), over: daemon.service) { $0.rateLimit = 1 << 20 }
                    .response.status == 200)
            await #expect(throws: TransferError.self) { try await ask(server.request(), over: daemon.service) }
        }

        @Test("without a daemon there are no connections, and a bad request is the usual error")
        func none() async throws {
            let folder = TemporaryFolder()
            #expect(WarmConnections.find(BackgroundService(folder: folder.path, command: [])) == nil)
            let daemon = try StandIn.relaying { _ in .done }
            var request = HTTPRequest(method: .get, scheme: "ftp", authority: "x", path: "/")
            request.scheme = "ftp"
            let asked = request
            let error = await #expect(throws: TransferError.self) { try await ask(asked, over: daemon.service) }
            #expect(error?.code == .badRequest)
        }

        @Test("a cancelled task does not wait for the daemon")
        func cancelled() async throws {
            let hasArrived = Mutex(false)
            let changes = Changes()
            let daemon = try StandIn.relaying { _ in
                hasArrived.withLock { $0 = true }
                changes.notify()
                try? await Task.sleep(for: .seconds(60))
                return .done
            }
            let warm = try #require(WarmConnections.find(daemon.service))
            let session = try WarmSession(configuration: .ephemeral, name: "warm", over: warm)
            let asking = Task {
                var options = TaskOptions()
                options.redirects = .ownOrigin
                return try await session.data(for: HTTPRequest(.get, url: "http://127.0.0.1:1/"), options: options)
            }
            await changes.wait { hasArrived.withLock { $0 } }
            asking.cancel()
            let error = await #expect(throws: TransferError.self) { try await asking.value }
            #expect(error?.code == .cancelled)
        }

        @Test("only GET and HEAD are relayed, and a relay whose sessions are closed opens new ones")
        func closed() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let relay = Relay()
            func relayed(_ method: HTTPRequest.Method) async -> DaemonAnswer {
                await relay.perform(
                    RelayedRequest(
                        request: server.request(method), timeoutForRequest: 60_000,
                        maximumResponseBytes: 1 << 20, certificateAuthorityFile: nil, pinnedKeys: []))
            }
            for _ in 0..<2 {
                guard case .relayed(let answer) = await relayed(.get) else { throw TransferError(.other, "refused") }
                #expect(answer.response.status == 200)
                await relay.close()
            }
            #expect(server.accepts == 2)
            guard case .refused = await relayed(.post) else { throw TransferError(.other, "relayed") }
        }
    }
}
