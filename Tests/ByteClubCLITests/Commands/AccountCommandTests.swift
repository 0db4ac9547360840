import ByteClubCore
import ByteClubHTTP
import ByteClubRemotes
import CLinux
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct AccountCommandTests {
    private func bare(_ world: World, _ input: String) -> Context {
        var context = world.context(input: input)
        context.environment = ["HOME": world.home.path]
        return context
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test("login checks the token, stores it for its owner alone, and later commands use it")
    func login() async throws {
        let world = try World()
        let context = bare(world, "the-token\n")
        let status = await world.run("login", "http://127.0.0.1:9/", "--token-stdin", in: context)
        #expect(status == .success, "\(world.err)")
        #expect(world.out.hasPrefix("signed in to http://127.0.0.1:9 as "))
        #expect(world.connections.first?.login.token == "the-token")
        #expect(mode(context.directories.credentialsFile) == 0o600)
        #expect(mode(context.directories.configuration) == 0o700)
        #expect(await world.run("notes", "list", in: context) == .success)
        #expect(world.connections.last?.login.token == "the-token")
        #expect(await world.run("whoami", in: context) == .success)
        #expect(world.out.contains("http://127.0.0.1:9"))
        #expect(await world.run("logout", in: context) == .success)
        #expect(world.disabledTokens == ["the-token"])
        #expect(await world.run("notes", "list", in: context) == .configuration)
        #expect(await world.run("logout", in: context) == .success)
        #expect(world.out == "you were not signed in\n")
    }

    @Test("the club's name is told where the server tells it, and does nothing to a terminal")
    func clubName() throws {
        let style = TextStyle(calendar: { CalendarTime.utc($0) })
        for (club, shown) in [("Panorama Club", "Panorama Club"), ("a\u{1B}[2J\u{202E}\n", "a^[[2J<U+202E> ")] {
            let account = Account(
                uid: 1, displayName: "ann", quotaInfo: Account.Quota(quota: 0, normal: 0, shared: 0),
                extensions: Account.Extensions(version: 1, conditionalDelete: true, club: club))
            let who = WhoAmICommand.Result(server: "https://club.example", account: account)
            #expect(who.text(style) == "ann of \(shown) at https://club.example, 0 bytes used")
            #expect(String(decoding: try JSON.line(who), as: UTF8.self).contains(#""club":"\#(club.first ?? "?")"#))
            let login = LoginCommand.Result(server: "https://club.example", account: account)
            #expect(login.text(style) == "signed in to \(shown) (https://club.example) as ann")
        }
    }

    @Test("a server that cannot be told of a logout keeps nobody from logging out")
    func lateLogout() async throws {
        let world = try World()
        let context = bare(world, "the-token")
        #expect(await world.run("login", "http://127.0.0.1:9", "--token-stdin", in: context) == .success)
        world.server.fault = { _ throws(RemoteError) in throw RemoteError(.unreachable, "nobody answers") }
        #expect(await world.run("logout", in: context) == .success)
        #expect(!LocalFile.exists(context.directories.credentialsFile))
        #expect(world.out == "signed out\n" && world.err.contains("still valid") && !world.err.contains("the-token"))
    }

    @Test("a token that the server refuses is not stored")
    func refused() async throws {
        let world = try World()
        world.server.fault = { _ throws(RemoteError) in throw RemoteError(.unauthorized, "unknown token") }
        let context = bare(world, "wrong")
        #expect(await world.run("login", "http://127.0.0.1:9", "--token-stdin", in: context) == .notAuthorised)
        #expect(!LocalFile.exists(context.directories.credentialsFile))
        #expect(!world.err.contains("wrong"))
    }

    @Test("without a terminal and without --token-stdin nothing is asked")
    func noTerminal() async throws {
        let world = try World()
        #expect(await world.run("login", "http://127.0.0.1:9", in: bare(world, "x")) == .usage)
        #expect(world.err.contains("--token-stdin"))
    }

    @Test("a code from a browser anywhere is exchanged for a token, and a token is taken as it is")
    func code() async throws {
        let world = try World()
        let terminal = Terminal(
            isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: true, columns: { nil })
        for (text, token) in [
            (String(repeating: "a", count: 32), "token-for-" + String(repeating: "a", count: 32)),
            (String(repeating: "b", count: 64), String(repeating: "b", count: 64)),
        ] {
            var context = bare(world, text)
            context.terminal = terminal
            #expect(await world.run("login", "http://127.0.0.1:9", "--no-browser", in: context) == .success)
            #expect(world.err.contains("http://127.0.0.1:9/1/oauth2/authorize?response_type=code&client_id=byteclub&"))
            #expect(!world.err.contains("redirect_uri"))
            #expect(world.connections.last?.login.token == token)
        }
    }

    /// Signs in by code if the server's answer requires it, and returns whether the user was prompted.
    private func asks(
        _ world: World, _ status: ByteClubCLI.ExitStatus, _ probe: @escaping @Sendable () throws -> ServerProbe
    ) async -> Bool {
        var context = bare(world, String(repeating: "a", count: 32))
        context.terminal = Terminal(
            isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: true, columns: { nil })
        context.connector.probe = { _ in try probe() }
        #expect(await world.run("login", "club.example", "--no-browser", in: context) == status, "\(world.err)")
        return world.err.contains("Open this page")
    }

    @Test("login looks whether a club is there before it asks, and says what to do about a certificate")
    func look() async throws {
        let world = try World()
        #expect(await !asks(world, .unavailable) { throw TransferError(.tls, "the certificate is unknown") })
        #expect(world.err.contains("--ca-file"), "\(world.err)")
        #expect(
            await !asks(world, .protocolViolation) { ServerProbe(status: 404, date: nil, body: [], seconds: 0) })
        #expect(world.err.contains("https://club.example"), "\(world.err)")
        #expect(await asks(world, .success) { ServerProbe(status: 401, date: nil, body: [], seconds: 0) })
    }

    @Test("a token is asked for at a terminal, which does not show it, and takes Enter")
    func typedToken() async throws {
        let world = try World()
        var context = bare(world, "")
        context.terminal.isInputTerminal = true
        let asked = Mutex<[String]>([])
        context.input = Input(
            readAll: { _ in throw Failure(.usage, "the terminal's end is not waited for") },
            readSecret: { prompt in
                asked.withLock { $0.append(prompt) }
                return "the-token"
            })
        #expect(await world.run("login", "http://127.0.0.1:9", "--token-stdin", in: context) == .success)
        #expect(asked.withLock(\.self) == ["Token: "])
        #expect(world.connections.last?.login.token == "the-token")
    }

    @Test("an invitation's link is the address too, and is what is opened first")
    func invitation() async throws {
        let world = try World()
        var context = bare(world, String(repeating: "a", count: 32))
        context.terminal = Terminal(
            isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: true, columns: { nil })
        let link = "http://127.0.0.1:9/invite/8c365b1f0d2e47a9"
        #expect(await world.run("login", link, "--no-browser", in: context) == .success, "\(world.err)")
        #expect(world.err.contains("Open your invitation"), "\(world.err)")
        #expect(world.err.contains(link + "?next=%2F1%2Foauth2%2Fauthorize%3Fresponse_type%3Dcode"), "\(world.err)")
        #expect(world.out.hasPrefix("signed in to http://127.0.0.1:9 as "))
    }

    @Test("a browser here is sent back to this program, which takes no answer but its own")
    func browser() async throws {
        let world = try World()
        for (answer, status) in [("code=xyz", ExitStatus.success), ("error=access_denied", .notAuthorised)] {
            var context = bare(world, "")
            context.browser = Browser { url in
                let values = RedirectListener.values(of: "GET \(url) HTTP/1.1")
                guard let back = values["redirect_uri"], let state = values["state"],
                    let port = UInt16(back.split(separator: ":").last?.dropLast() ?? "")
                else { return false }
                BackgroundThread.start {
                    for query in ["favicon.ico", "?state=x&code=other", "?state=\(state)&\(answer)"] {
                        guard let connection = RawConnection(port: port) else { return }
                        connection.send(Array("GET /\(query) HTTP/1.1\r\n\r\n".utf8))
                        _ = connection.receiveAll()
                    }
                }
                return true
            }
            #expect(await world.run("login", "http://127.0.0.1:9", in: context) == status)
            if status == .success { #expect(world.connections.last?.login.token == "token-for-xyz") }
        }
    }

    @Test("an invitation in a browser here leads to the question whether this machine may in, and then to the gallery")
    func invitationHere() async throws {
        let world = try World()
        var context = bare(world, "")
        let link = "http://127.0.0.1:9/invite/8c365b1f0d2e47a9"
        let answer = Mutex("")
        context.browser = Browser { url in
            guard url.hasPrefix(link + "?next=%2F1%2Foauth2%2Fauthorize"),
                let page = RedirectListener.values(of: "GET \(url) HTTP/1.1")["next"]
            else { return false }
            let values = RedirectListener.values(of: "GET \(page) HTTP/1.1")
            guard let back = values["redirect_uri"], let state = values["state"],
                let port = UInt16(back.split(separator: ":").last?.dropLast() ?? "")
            else { return false }
            BackgroundThread.start {
                guard let connection = RawConnection(port: port) else { return }
                connection.send(Array("GET /?state=\(state)&code=xyz HTTP/1.1\r\n\r\n".utf8))
                answer.withLock { $0 = String(decoding: connection.receiveAll(), as: UTF8.self) }
            }
            return true
        }
        #expect(await world.run("login", link, in: context) == .success, "\(world.err)")
        #expect(world.connections.last?.login.token == "token-for-xyz")
        try await eventually("the browser is answered") { !answer.withLock(\.isEmpty) }
        let text = answer.withLock(\.self)
        #expect(text.hasPrefix("HTTP/1.1 303 "), "\(text)")
        #expect(text.contains("\r\nLocation: http://127.0.0.1:9/gallery\r\n"), "\(text)")
    }

    @Test("credentials that others can read are refused")
    func loose() async throws {
        let world = try World()
        let context = bare(world, "the-token")
        #expect(await world.run("login", "http://127.0.0.1:9", "--token-stdin", in: context) == .success)
        #expect(unsafe chmod(context.directories.credentialsFile, 0o644) == 0)
        #expect(await world.run("notes", "list", in: context) == .configuration)
        #expect(world.err.contains("chmod 600"))
    }

    @Test("the server's program is looked for beside this one, then in PATH")
    func program() {
        let candidates = SiblingProgram.server.candidates(
            ["PATH": "/usr/bin:relative:/bin"], executable: "/opt/club/byteclub")
        #expect(candidates == ["/opt/club/byteclub-server", "/usr/bin/byteclub-server", "/bin/byteclub-server"])
    }

    @Test("a program that is this one under another name is passed over, so that it never becomes itself for ever")
    func itself() throws {
        let folder = try TemporaryDirectory()
        let program = folder.path + "/byteclub"
        try LocalFile.replace(program, with: [])
        #expect(unsafe symlink(program, folder.path + "/byteclub-mirror") == 0)
        #expect(SiblingProgram.mirror.candidates(["PATH": folder.path], executable: program).isEmpty)
    }

    @Test("a missing program is one line and code 78")
    func missing() async throws {
        let world = try World()
        var context = world.context(["PATH": world.home.path])
        context.engine = nil
        for command in ["sync", "status", "serve"] {
            #expect(await world.run(command, in: context) == .configuration)
            #expect(world.err.hasPrefix("byteclub: 'byteclub-") && world.err.contains("' or in PATH; install it "))
            #expect(world.err.split(separator: "\n").count == 1 && world.out.isEmpty)
        }
    }
}
