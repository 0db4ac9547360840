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

    @Test("nobody guesses without end by sending a header that the proxy does not write, or a quotation mark")
    func evasion() async throws {
        try await TestServer.run(adjusting: {
            $0.settings.limits = RequestLimits(memberRate: 0, attemptRate: 1, anonymousRate: 0)
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
        }) { server in
            // The first is what the proxy writes, the second what the client does; the last element is the proxy's
            // again.
            for fields in [
                { ["Forwarded: for=203.0.113.9", "X-Forwarded-For: 6.6.\($0 / 250).\($0 % 250)"] },
                { [#"X-Forwarded-For: "6.6.\#($0 / 250).\#($0 % 250), 203.0.113.9"#] },
            ] as [(Int) -> [String]] {
                var statuses: [Int] = []
                // A slow machine earns the address further attempts meanwhile.
                for number in 0..<1000 where statuses.last != 429 {
                    let wrong = ["Authorization: Bearer wrong\(number)"] + fields(number)
                    statuses.append(try await server.send("GET /1/account/info", wrong).status)
                }
                #expect(statuses.last == 429, "\(statuses.count) guesses")
            }
            let lines = try await server.log.lines(atLeast: 100)
            #expect(lines.contains { $0.contains(" peer=203.0.113.9 ") })
        }
    }

    @Test("behind a proxy that was told https, browsers are told to keep to it, and else they are not")
    func strictTransport() async throws {
        try await TestServer.run(adjusting: {
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
        }) { server in
            let secure = try await server.send("GET /login", ["X-Forwarded-Proto: https"])
            #expect(secure["Strict-Transport-Security"] == "max-age=31536000")
            for fields in [[], ["X-Forwarded-Proto: http"]] {
                #expect(try await server.send("GET /login", fields)["Strict-Transport-Security"] == nil)
            }
        }
    }

    @Test("behind a real nginx the log has the client's address, as the sample configuration sets it up")
    func nginx() async throws {
        try await TestServer.run(adjusting: {
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
        }) { server in
            let nginx = try await SampleNginx.start(before: server.port)
            defer { nginx.process.kill9() }
            let answer = try await nginx.curl(
                from: "127.0.0.3",
                ["-i", "-H", server.bearer, "-H", "X-Forwarded-For: 6.6.6.6", nginx.url + "/1/account/info?list=true"])
            #expect(answer.text.contains(#""display_name":"Ann Bell""#), "\(answer)")
            let line = try #require(await server.log.line { $0.contains("account/info") })
            #expect(line.contains(" peer=127.0.0.3 "), "\(line)")
            let policies = answer.text.lowercased().split(separator: "strict-transport-security:").count - 1
            #expect(policies == 1, "\(answer)")
            nginx.process.send(15)
            _ = await nginx.process.result()
        }
    }

    @Test("one address that holds its requests open at a real nginx is told to come back later, and keeps no other out")
    func oneAddress() async throws {
        try await TestServer.run(adjusting: {
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
        }) { server in
            let nginx = try await SampleNginx.start(
                before: server.port,
                adjusting: [("limit_conn byteclub_connections 128;", "limit_conn byteclub_connections 4;")])
            defer { nginx.process.kill9() }
            let file = nginx.folder.path + "/slow"
            try LocalFiles.write([UInt8](repeating: 65, count: 100_000), to: file)
            var held: [SpawnedProcess] = []
            defer { for process in held { process.kill9() } }
            let asked = ["-i", "-H", server.bearer, nginx.url + "/1/account/info"]
            // One upload more for each try, since one that comes while the address asks may be refused itself.
            try await eventually("a fifth request of the address is refused") {
                held.append(
                    try nginx.start(
                        from: "127.0.0.3",
                        [
                            "-H", server.bearer, "-H", "Expect:", "--limit-rate", "100", "-T", file,
                            nginx.url + "/1/files_put/auto/slow-\(held.count)",
                        ]))
                return try await nginx.curl(from: "127.0.0.3", asked).text.contains(" 429")
            }
            let refused = try await nginx.curl(from: "127.0.0.3", asked).text
            #expect(refused.lowercased().contains("retry-after: ") && refused.contains(#"{"error":"#), "\(refused)")
            #expect(refused.lowercased().contains("strict-transport-security: "), "\(refused)")
            let other = try await nginx.curl(from: "127.0.0.4", asked).text
            #expect(other.contains(" 200") && other.contains("Ann Bell"), "\(other)")
        }
    }
}

/// A real nginx with the sample configuration, before a server of the test.
private struct SampleNginx {
    let folder: TemporaryDirectory
    let process: SpawnedProcess
    let url: String

    /// Starts it and waits until it answers; each text of `adjusting` must be in the sample.
    static func start(before upstream: UInt16, adjusting: [(String, String)] = []) async throws -> SampleNginx {
        let program = try #require(Program.system("nginx"), "Config/prepare installs nginx")
        let folder = try TemporaryDirectory()
        var sample = String(decoding: Fixture.bytes(at: Fixture.projectRoot + "/Config/nginx.conf"), as: UTF8.self)
        for (from, to) in adjusting {
            let range = try #require(sample.firstRange(of: from), "the sample has '\(from)'")
            sample.replaceSubrange(range, with: to)
        }
        try await makeCertificate(in: folder.path)
        // As late as can be, so that nobody else takes the port.
        let listener = try LoopbackListener()
        let port = listener.port
        listener.stop()
        // The sample's own lines, with this test's ports and files.
        let site = sample.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            var line = String(line)
            for (from, to) in [
                ("server 127.0.0.1:8017;", "server 127.0.0.1:\(upstream);"),
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
        let process = try Program.start(
            program, ["-p", folder.path, "-c", folder.path + "/nginx.conf", "-e", folder.path + "/error.log"])
        let nginx = SampleNginx(folder: folder, process: process, url: "https://127.0.0.1:\(port)")
        try await eventually("nginx answers") {
            try #require(
                !process.hasEnded, "\(String(decoding: Fixture.bytes(at: folder.path + "/error.log"), as: UTF8.self))")
            return try await nginx.curl(from: "127.0.0.5", [nginx.url + "/assets/style.css"]).status == 0
        }
        return nginx
    }

    /// Asks from an address of the loopback network.
    func curl(from address: String, _ arguments: [String]) async throws -> ProgramResult {
        try await start(from: address, arguments).result()
    }

    /// As ``curl(from:_:)``, without waiting for its end.
    func start(from address: String, _ arguments: [String]) throws -> SpawnedProcess {
        try Program.start(
            try #require(Program.system("curl")),
            ["-s", "--cacert", folder.path + "/cert.pem", "--interface", address] + arguments)
    }

    private static func makeCertificate(in folder: String) async throws {
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
