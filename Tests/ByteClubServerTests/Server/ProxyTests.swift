import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct ProxyTests {
    @Test("headers that a stranger sends do not change the address in the log")
    func spoofed() async throws {
        try await TestServer.run { server in
            let spoofed = ["X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1", "X-Real-IP: 192.0.2.1"]
            _ = try await server.send("GET /1/account/info", [server.bearer] + spoofed)
            let line = try #require(await server.log.line { $0.contains("account/info") })
            #expect(line.contains(" peer=127.0.0.1 ") && !line.contains("192.0.2.1"), "\(line)")
        }
    }

    @Test("behind a real nginx the log has the client's address, as the sample configuration sets it up")
    func nginx() async throws {
        let program = try #require(Program.system("nginx"), "Config/prepare installs nginx")
        try await TestServer.run(adjusting: {
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
        }) { server in
            let folder = try TemporaryDirectory()
            let sample = String(decoding: Fixture.bytes(at: Fixture.projectRoot + "/Config/nginx.conf"), as: UTF8.self)
            try await makeCertificate(in: folder.path)
            // As late as can be, so that nobody else takes the port.
            let listener = try LoopbackListener()
            let port = listener.port
            listener.stop()
            // The sample's own lines, with this test's ports and files.
            let site = sample.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
                var line = String(line)
                for (from, to) in [
                    ("server 127.0.0.1:8017;", "server 127.0.0.1:\(server.port);"),
                    ("listen 443 ssl http2;", "listen 127.0.0.1:\(port) ssl http2;"),
                    ("/etc/letsencrypt/live/club.example/fullchain.pem", folder.path + "/cert.pem"),
                    ("/etc/letsencrypt/live/club.example/privkey.pem", folder.path + "/key.pem"),
                ] {
                    if let range = line.firstRange(of: from) { line.replaceSubrange(range, with: to) }
                }
                let isForeign = line.contains("listen 80") || line.contains("listen [::]")
                return isForeign ? (line.contains("80;") ? "    listen 127.0.0.2:\(port);" : "") : line
            }
            var seen: Set<String> = []
            let unique = site.filter { !$0.contains("listen 127.0.0.2") || seen.insert($0).inserted }
            let configuration = """
                daemon off; worker_processes 1; pid \(folder.path)/pid; user root;
                events { worker_connections 64; }
                http {
                    client_body_temp_path \(folder.path); proxy_temp_path \(folder.path);
                    fastcgi_temp_path \(folder.path); uwsgi_temp_path \(folder.path); scgi_temp_path \(folder.path);
                    \(unique.joined(separator: "\n"))
                }
                """
            try LocalFiles.write(configuration, to: folder.path + "/nginx.conf")
            let nginx = try Program.start(
                program, ["-p", folder.path, "-c", folder.path + "/nginx.conf", "-e", folder.path + "/error.log"])
            defer { nginx.kill9() }
            let curl = try #require(Program.system("curl"))
            var answer = try await Program.run(curl, ["--version"])
            for _ in 0..<600 {
                answer = try await Program.run(
                    curl,
                    [
                        "-s", "--cacert", folder.path + "/cert.pem", "--interface", "127.0.0.3", "-H", server.bearer,
                        "-H", "X-Forwarded-For: 6.6.6.6", "https://127.0.0.1:\(port)/1/account/info?list=true",
                    ])
                if answer.status == 0 { break }
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(answer.text.contains(#""display_name":"Ann Bell""#), "\(answer)")
            let line = try #require(await server.log.line { $0.contains("account/info") })
            #expect(line.contains(" peer=127.0.0.3 "), "\(line)")
            nginx.send(15)
            _ = await nginx.result()
        }
    }

    private func makeCertificate(in folder: String) async throws {
        let made = try await Program.run(
            try #require(Program.system("openssl")),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder + "/key.pem",
                "-out", folder + "/cert.pem",
            ])
        try #require(made.status == 0)
    }
}
