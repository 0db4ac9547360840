import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct UploadWorkTests {
        private static let bytes = noise(200_000, seed: 7)

        private func upload(
            _ server: FaultServer, _ file: String, _ method: HTTPRequest.Method = .put, key: String? = nil
        ) -> BackgroundRequest {
            var options = BackgroundOptions()
            options.idempotencyKey = key
            return BackgroundRequest(.upload(server.request(method, "/up"), file: file), options: options)
        }

        @Test("a file is sent, and the result has the response's body")
        func sent() async throws {
            let server = try FaultServer { peer, request in
                let isRight = peer.readBody(of: request) == Self.bytes
                return peer.respond(201, isRight ? "kept" : "wrong") ? .keep : .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            let file = folder.write("f", Self.bytes)
            try await withDaemon(folder) { daemon in
                let status = try await daemon.finish(upload(server, file))
                #expect(status.state == .done && status.bytes == 200_000)
                #expect(status.result == BackgroundResult(status: 201, bytes: Array("kept".utf8)))
            }
        }

        @Test("a file that has changed since it was recorded is not sent, and a missing one is not recorded")
        func changed() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let folder = TemporaryFolder()
            let file = folder.write("f", Self.bytes)
            try await withDaemon(folder) { daemon in
                let control = try await daemon.control()
                try await control.setSchedule(RateSchedule(otherwise: 0))
                let id = try #require(try await control.submit([upload(server, file)], identifier: "test").first).id
                _ = folder.write("f", Self.bytes + [1])
                try await control.setSchedule(RateSchedule())
                let status = try await daemon.finished(id, control)
                #expect(status.failure?.code == "fileChanged" && server.requests.isEmpty)
                let count = try await control.tasks().count
                let error = await failure { () async throws(TransferError) in
                    try await control.submit([upload(server, file), upload(server, folder.path)], identifier: "test")
                }
                #expect(error?.code == .fileUnreadable)
                #expect(try await control.tasks().count == count)
            }
        }

        @Test("a file that changes between two requests is not sent again")
        func changedBetween() async throws {
            let folder = TemporaryFolder()
            let file = folder.write("f", Self.bytes)
            let server = try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                _ = folder.write("f", Self.bytes + [1])
                return peer.respond(401) ? .keep : .close
            }
            defer { server.stop() }
            var request = upload(server, file)
            request.options.credential = "key"
            try await withDaemon(folder, { $0.credentials = { _ in [.authorization: "x"] } }) { [request] daemon in
                let status = try await daemon.finish(request)
                #expect(status.failure?.code == "fileChanged" && server.requests.count == 1)
            }
        }

        @Test("after a lost connection only a repeatable upload is sent again")
        func lost() async throws {
            let server = try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                if request["x-try"] == nil, request["idempotency-key"] == nil { return .reset }
                return peer.respond(200) ? .keep : .close
            }
            defer { server.stop() }
            let counts = Mutex<[String: Int]>([:])
            let second = try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                let count = counts.withLock { counts in
                    counts[request.method, default: 0] += 1
                    return counts[request.method, default: 0]
                }
                if count == 1 { return .reset }
                return peer.respond(200) ? .keep : .close
            }
            defer { second.stop() }
            let folder = TemporaryFolder()
            let file = folder.write("f", Self.bytes)
            try await withDaemon(folder) { daemon in
                let once = try await daemon.finish(upload(server, file, .post))
                #expect(once.failure?.code == "connectionLost" && server.requests.count == 1)
                let put = try await daemon.finish(upload(second, file))
                let keyed = try await daemon.finish(upload(second, file, .post, key: "k"))
                #expect(put.state == .done && keyed.state == .done)
                #expect(second.requests.map(\.method) == ["PUT", "PUT", "POST", "POST"])
            }
        }
    }
}
