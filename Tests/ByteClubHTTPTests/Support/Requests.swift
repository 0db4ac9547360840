import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

/// Every test that makes requests, one at a time: they count live objects, memory and processor time.
@Suite(.serialized) enum Live {}

extension FaultServer {
    /// A request to this server.
    func request(_ method: HTTPRequest.Method = .get, _ path: String = "/", _ fields: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: authority, path: path, headerFields: fields)
    }

    /// A server that answers 200 with the number of body bytes it got.
    static func echo() throws -> FaultServer {
        try FaultServer { peer, request in
            let count = peer.skip(request.contentLength)
            return peer.respond(200, "\(count)") ? .keep : .close
        }
    }
}

/// Runs a test with a session and makes sure that nothing of it is left.
func withSession(
    _ configure: (inout SessionConfiguration) -> Void = { _ in },
    delegate: (any SessionDelegate)? = nil,
    _ body: (Session) async throws -> Void
) async throws {
    var configuration = SessionConfiguration.ephemeral
    configuration.retryPolicy = .never
    configure(&configuration)
    // What a test before let go of without waiting may still be ending.
    let transfers = Transfer.liveCount.load(ordering: .relaxed)
    let handles = EasyHandle.liveCount.load(ordering: .relaxed)
    let session = try Session(configuration: configuration, delegate: delegate, name: "test")
    do { try await body(session) } catch {
        await session.invalidateAndCancel()
        throw error
    }
    await session.invalidateAndCancel()
    #expect(Transfer.liveCount.load(ordering: .relaxed) <= transfers)
    #expect(EasyHandle.liveCount.load(ordering: .relaxed) <= handles)
}

/// The error a request ends with, or nil.
func failure<T>(of body: () async throws(TransferError) -> T) async -> TransferError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}
