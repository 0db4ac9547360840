import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("What an operator does") struct OperatorTests {
        @Test("systemd hears when the server is ready, lives, reads its certificate again and stops")
        func notify() async throws {
            let folder = try TemporaryDirectory()
            let socket = try #require(NotifySocket(folder.path + "/notify"))
            let process = try Program.start(
                "byteclub-server", ["--data", folder.path + "/data", "--listen", "127.0.0.1:0"],
                environment: ["NOTIFY_SOCKET": folder.path + "/notify", "WATCHDOG_USEC": "300000"])
            defer { process.kill9() }
            let line = try #require(await process.line { $0.hasPrefix("listening on ") })
            #expect(await Self.news(from: socket) == "READY=1\nSTATUS=\(line)")
            for _ in 0..<3 { #expect(await BackgroundThread.run { socket.receive() } == "WATCHDOG=1") }
            process.send(SIGHUP)
            let reload = await Self.news(from: socket)
            #expect(reload.hasPrefix("RELOADING=1\nMONOTONIC_USEC="), "\(reload)")
            #expect(await Self.news(from: socket) == "READY=1")
            process.send(SIGTERM)
            #expect(await Self.news(from: socket) == "STOPPING=1")
            #expect(await process.result().status == 0)
        }

        /// The next message that is no mere sign of life; those come whenever they are due.
        private static func news(from socket: NotifySocket) async -> String {
            while true {
                let message = await BackgroundThread.run { socket.receive() } ?? "nothing"
                if message != "WATCHDOG=1" { return message }
            }
        }

        @Test("SIGHUP reads the certificate again; a bad one is told in the log and keeping the old one")
        func reload() async throws {
            let folder = try TemporaryDirectory()
            try await makeCertificate(folder.path)
            let server = try await ServerProcess(
                data: folder.path + "/data",
                arguments: ["--tls-certificate", folder.path + "/cert.pem", "--tls-key", folder.path + "/key.pem"])
            let process = try #require(server.process)
            try LocalFiles.write("garbage", to: folder.path + "/cert.pem")
            process.send(SIGHUP)
            let told = await process.line(of: .errors) { $0.contains("keeping the old one") }
            #expect(told != nil)
            try await makeCertificate(folder.path)
            process.send(SIGHUP)
            let read = await process.line(of: .errors) { $0.contains("reloaded the certificate") }
            #expect(read != nil)
            let curl = try #require(Program.system("curl"))
            let answer = try await Program.run(
                curl,
                ["-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", folder.path + "/cert.pem", server.url])
            #expect(answer.text != "000" && answer.status == 0, "\(answer)")
            #expect(await server.stop()?.status == 0)
        }

        @Test("/healthz tells a full disk, and that it has room again")
        func fullDisk() async throws {
            let folder = try TemporaryDirectory()
            let mount = folder.path + "/disk"
            unsafe mkdir(mount, 0o700)
            try await SmallDisk.with(at: mount, kibibytes: 8 << 10) { disk in
                let process = try Program.start(
                    "byteclub-server",
                    ["--data", mount + "/data", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"])
                let line = try #require(await process.line(of: .errors) { $0.contains("health and metrics on ") })
                let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
                #expect(await RawExchange.send("GET /healthz", port: port)?.status == 200)
                _ = try await Program.run("/bin/dd", ["if=/dev/zero", "of=\(mount)/fill", "bs=4k"])
                try await ContinuousClock().sleep(for: .milliseconds(1100))
                let full = await RawExchange.send("GET /healthz", port: port)
                #expect(full?.status == 503 && full?.text.contains("cannot be written") == true, "\(full?.text ?? "")")
                try await disk.resize(kibibytes: 16 << 10)
                try await ContinuousClock().sleep(for: .milliseconds(1100))
                #expect(await RawExchange.send("GET /healthz", port: port)?.status == 200)
                process.send(SIGTERM)
                #expect(await process.result().status == 0)
            }
        }

        @Test("no token is in any process's command line, also while a client works")
        func processList() async throws {
            let club = try await Club.start()
            let token = try await club.server.addMember("ann")
            let ann = MemberMachine("ann", in: club.folder.path)
            let login = try await ann.byteclub(
                "login", club.server.url, "--token-stdin", input: Array((token + "\n").utf8))
            #expect(login.status == 0)
            let upload = try ann.start(
                ["photos", "upload", Fixture.path("panoramas/forest.jpg"), "--limit-rate", "10K"])
            _ = await upload.line(of: .errors) { $0.contains("forest.jpg") }
            let listing = try await Program.run("/bin/sh", ["-c", "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'"])
            #expect(listing.text.contains("forest.jpg") && listing.text.contains("byteclub-server"))
            #expect(!listing.text.contains(token) && !listing.text.contains(club.api.token))
            upload.kill9()
        }

        private func makeCertificate(_ folder: String) async throws {
            let made = try await Program.run(
                try #require(Program.system("openssl")),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                    folder + "/key.pem", "-out", folder + "/cert.pem",
                ])
            try #require(made.status == 0)
        }
    }
}
