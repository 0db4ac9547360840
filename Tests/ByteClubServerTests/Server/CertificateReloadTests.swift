import ByteClubCore
import ByteClubHTTP
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct CertificateReloadTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func make(_ name: String) async throws {
        let made = try await Program.run(
            try #require(Program.system("openssl")),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=\(name)", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                "\(folder.path)/\(name).key", "-out", "\(folder.path)/\(name).pem",
            ])
        try #require(made.status == 0)
    }

    private func install(_ name: String) throws {
        try LocalFiles.write(Fixture.bytes(at: "\(folder.path)/\(name).pem"), to: folder.path + "/live.pem")
        try LocalFiles.write(Fixture.bytes(at: "\(folder.path)/\(name).key"), to: folder.path + "/live.key")
    }

    private func session(trusting name: String) throws -> Session {
        var configuration = SessionConfiguration.ephemeral
        configuration.certificateAuthorityFile = "\(folder.path)/\(name).pem"
        return try Session(configuration: configuration, name: name)
    }

    @Test("a new certificate is for new connections; open ones and requests in flight go on with the old one")
    func reload() async throws {
        try await make("old")
        try await make("new")
        try install("old")
        let files = ClubConfiguration.CertificateFiles(
            certificate: folder.path + "/live.pem", key: folder.path + "/live.key")
        try await TestServer.run(adjusting: { $0.certificate = files }) { server in
            func request(_ path: String) -> HTTPRequest {
                var request = HTTPRequest(
                    method: .get, scheme: "https", authority: "127.0.0.1:\(server.port)", path: path)
                request.headerFields[.authorization] = "Bearer \(server.member.token)"
                return request
            }
            let before = try session(trusting: "old")
            let (_, first) = try await before.data(for: request("/1/account/info"))
            #expect(first.status == .ok)
            var delta = request("/1/delta/latest_cursor")
            delta.method = .post
            let (bytes, _) = try await before.data(for: delta)
            let fields = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: String])
            let cursor = try #require(fields["cursor"])
            async let poll = before.data(for: request("/1/longpoll_delta?cursor=\(cursor)&timeout=480"))
            try await eventually("a poll waits") { server.store.waiterCount > 0 }

            try LocalFiles.write("no certificate", to: folder.path + "/live.pem")
            #expect(throws: (any Error).self) { try server.club.reloadCertificate() }
            let (_, kept) = try await before.data(for: request("/1/account/info"))
            #expect(kept.status == .ok)
            try install("new")
            try LocalFiles.write(Fixture.bytes(at: folder.path + "/old.key"), to: folder.path + "/live.key")
            #expect(throws: (any Error).self, "a key of another certificate") { try server.club.reloadCertificate() }
            let another = try session(trusting: "old")
            let (_, still) = try await another.data(for: request("/1/account/info"))
            #expect(still.status == .ok)

            try install("new")
            #expect(try server.club.reloadCertificate())
            let after = try session(trusting: "new")
            let (_, fresh) = try await after.data(for: request("/1/account/info"))
            #expect(fresh.status == .ok)
            let late = try session(trusting: "old")
            await #expect(throws: TransferError.self) { try await late.data(for: request("/1/account/info")) }
            // The long poll began before, and ends as if nothing had been.
            try await server.store.write(by: server.member.uid, storing: nil) { folder in
                _ = try folder.createFolder(RemotePath("/made"))
            }
            let (answer, response) = try await poll
            #expect(response.status == .ok && String(decoding: answer, as: UTF8.self) == #"{"changes":true}"#)
            for session in [before, another, after, late] { await session.finishTasksAndInvalidate() }
        }
    }
}
