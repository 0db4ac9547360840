import ByteClubHTTP
import CLinux
import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The server's own certificate")
struct SelfSignedCertificateTests {
    private func info(_ server: TestServer) -> HTTPRequest {
        HTTPRequest(
            method: .get, scheme: "https", authority: "127.0.0.1:\(server.port)", path: "/1/account/info",
            headerFields: [.authorization: "Bearer \(server.member.token)"])
    }

    private func session(_ pin: String) throws -> Session {
        var configuration = SessionConfiguration.ephemeral
        configuration.pinnedKeys = [try #require(PublicKeyPin("sha256=" + pin))]
        return try Session(configuration: configuration, name: "pinned")
    }

    @Test("it is made once, for its owner alone, and is for the names that are told and the machine's own")
    func made() async throws {
        let folder = try TemporaryDirectory()
        let hosts = ["club.example", "0.0.0.0", "[2001:db8::1]", "localhost"]
        let first = try SelfSignedCertificate(in: folder.path, for: hosts)
        let again = try SelfSignedCertificate(in: folder.path, for: ["other.example"])
        #expect(first.pin == again.pin && first.pin.utf8.count == 43)
        var status = stat()
        #expect(unsafe stat(first.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try Directory.names(in: folder.path) == [SelfSignedCertificate.fileName])
        let told = try await Program.run(
            try #require(Program.system("openssl")), ["x509", "-in", first.path, "-noout", "-text"])
        #expect(told.status == 0)
        let text = told.text
        let names =
            "DNS:club.example, IP Address:2001:DB8:0:0:0:0:0:1, DNS:localhost, IP Address:127.0.0.1, "
            + "IP Address:0:0:0:0:0:0:0:1"
        for part in [
            "Version: 3", "ecdsa-with-SHA256", "NIST CURVE: P-256", "Digital Signature", "CA:FALSE",
            "TLS Web Server Authentication", "9999", names,
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        let other = try TemporaryDirectory()
        #expect(try SelfSignedCertificate(in: other.path, for: []).pin != first.pin)
    }

    @Test("who knows its key is served by any name, and with another key nothing is said")
    func pinned() async throws {
        let folder = try TemporaryDirectory()
        let own = try SelfSignedCertificate(in: folder.path, for: ["club.example"])
        let elsewhere = try TemporaryDirectory()
        let strange = try SelfSignedCertificate(in: elsewhere.path, for: [])
        try await TestServer.run(adjusting: { $0.certificate = own.files }) { server in
            let (_, response) = try await session(own.pin).data(for: info(server))
            #expect(response.status == .ok)
            let lines = server.log.all.count
            let error = await #expect(throws: TransferError.self) {
                try await session(strange.pin).data(for: info(server))
            }
            #expect(error?.code == .tls && error?.message.contains("pinned") == true)
            #expect(error?.phase == .tls || error?.bytesSent == 0)
            #expect(server.log.all.count == lines, "no request came")
        }
    }

    @Test("a file that holds none is refused, and stays as it is")
    func damaged() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/" + SelfSignedCertificate.fileName
        try LocalFiles.write("none", to: path)
        #expect(throws: (any Error).self) { try SelfSignedCertificate(in: folder.path, for: []) }
        #expect(Fixture.bytes(at: path) == Array("none".utf8))
    }

    @Test("a copy of the data has it, so that members know the copy, too")
    func copied() throws {
        let fixture = try StoreFixture()
        let own = try SelfSignedCertificate(in: fixture.directory.path, for: [])
        let parent = try TemporaryDirectory()
        let target = parent.path + "/copy"
        _ = try DataDirectory(path: fixture.directory.path).copy(to: target, sharing: .nothing)
        #expect(try SelfSignedCertificate(in: target, for: []).pin == own.pin)
    }
}
