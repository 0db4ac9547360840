import ByteClubHTTP
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct TLSTests {
    @Test("a server with a certificate speaks TLS, and clients that trust it are served")
    func served() async throws {
        let directory = try TemporaryDirectory()
        let (certificate, key) = (directory.path + "/cert.pem", directory.path + "/key.pem")
        let made = try await Program.run(
            try #require(Program.system("openssl")),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
                certificate,
            ])
        try #require(made.status == 0)
        try await TestServer.run(adjusting: {
            $0.certificate = ClubConfiguration.CertificateFiles(certificate: certificate, key: key)
        }) { server in
            var configuration = SessionConfiguration.ephemeral
            configuration.certificateAuthorityFile = certificate
            let session = try Session(configuration: configuration, name: "tls")
            var request = HTTPRequest(
                method: .get, scheme: "https", authority: "127.0.0.1:\(server.port)", path: "/1/account/info")
            request.headerFields[.authorization] = "Bearer \(server.member.token)"
            let (bytes, response) = try await session.data(for: request)
            #expect(response.status == .ok && !bytes.isEmpty)
            let stranger = try Session(configuration: .ephemeral, name: "stranger")
            await #expect(throws: TransferError.self) { try await stranger.data(for: request) }
            await session.finishTasksAndInvalidate()
            await stranger.finishTasksAndInvalidate()
        }
    }
}
