import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A server at a terminal") struct TerminalServerTests {
        private static func start(
            _ data: String, _ arguments: [String] = []
        ) async throws -> (session: TerminalSession, url: String) {
            let session = try TerminalSession(
                Program.path("byteclub-server"), ["--data", data, "--listen", "127.0.0.1:0"] + arguments,
                environment: ["PATH": "/usr/bin:/bin", "TERM": "xterm"])
            var url: String?
            try await eventually("the server listens") {
                url = session.text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("listening on ") }
                    .map { String($0.dropFirst("listening on ".count)) }
                return url != nil
            }
            return (session, try #require(url))
        }

        private static func ask(_ url: String) async throws {
            let curl = try #require(Program.system("curl"))
            let answer = try await Program.run(
                curl, ["-s", "-o", "/dev/null", "-w", "%{http_code}", url + "/assets/style.css"])
            #expect(answer.text == "200", "\(answer)")
        }

        @Test("a closed terminal ends it in order; the link is not buried, since requests are logged at debug there")
        func closed() async throws {
            let folder = try TemporaryDirectory()
            let (session, url) = try await Self.start(folder.path + "/data")
            try await Self.ask(url)
            let second = try await Program.run(
                "byteclub-server", ["--data", folder.path + "/data", "--listen", "127.0.0.1:0"])
            let advice = "process \(session.pid); 'kill \(session.pid)' ends it"
            #expect(second.status == 75 && second.errorText.contains(advice), "\(second)")
            session.send(SIGHUP)
            try await eventually("the server has ended") { session.status != nil }
            #expect(session.status == 0, "\(session.text)")
            #expect(session.text.contains("this link creates one"), "\(session.text)")
            #expect(!session.text.contains("/assets/style.css"), "\(session.text)")
            let (again, url2) = try await Self.start(folder.path + "/data", ["--log-level", "debug", "--stay"])
            #expect(!again.text.contains("did not stop cleanly"), "\(again.text)")
            try await Self.ask(url2)
            try await eventually("the request is logged") { again.text.contains("/assets/style.css") }
            again.send(SIGHUP)
            try await eventually("the signal is told") { again.text.contains("no certificate to reload") }
            try await Self.ask(url2)
            #expect(try await again.interrupt().status == 0)
        }
    }
}
