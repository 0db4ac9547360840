import ByteClubCore
import ByteClubRemotes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("Signing in by a short code")
struct ShortCodeTests {
    /// A server with short codes and prepared answers.
    private final class CodeServer: Sendable {
        private let given = Mutex(0)
        private let answers: Mutex<[Result<DeviceSignIn.Answer, RemoteError>]>

        init(_ answers: Result<DeviceSignIn.Answer, RemoteError>...) { self.answers = Mutex(answers) }

        /// How many codes it gave.
        var codes: Int { given.withLock(\.self) }

        func install(in context: inout Context) {
            context.connector.shortCode = { _, _ in
                let number = self.given.withLock { count in
                    count += 1
                    return count
                }
                return DeviceSignIn.Code(
                    page: "https://club.example/device", text: "WDJB-MJH\(number)", lifetime: 600, interval: 0,
                    secret: "s\(number)")
            }
            context.connector.shortCodeAnswer = { _, _, _ in
                try self.answers.withLock { $0.isEmpty ? .success(.pending) : $0.removeFirst() }.get()
            }
        }
    }

    private func login(
        _ world: World, _ server: CodeServer, _ words: String..., interrupts: Interrupts = .none,
        change: (inout Context) -> Void = { _ in }
    ) async -> ByteClubCLI.ExitStatus {
        var context = world.context(interrupts: interrupts)
        context.environment = ["HOME": world.home.path]
        server.install(in: &context)
        change(&context)
        return await ByteClub.run(
            ["login"] + (words.isEmpty ? ["http://127.0.0.1:9"] : words) + ["--no-browser"], in: context)
    }

    @Test("the page and the code are two lines, and no terminal is needed to wait for the token")
    func twoLines() async throws {
        let world = try World()
        let server = CodeServer(.success(.pending), .success(.pending), .success(.token("t0ken")))
        #expect(await login(world, server) == .success, "\(world.err)")
        let lines = world.err.split(separator: "\n")
        #expect(lines.count == 2, "\(world.err)")
        #expect(lines.first?.hasSuffix(" https://club.example/device") == true)
        #expect(lines.last?.hasSuffix(" WDJB-MJH1") == true && lines.last?.contains("10 minutes") == true)
        #expect(world.out.hasPrefix("signed in to http://127.0.0.1:9 as "))
        #expect(world.connections.last?.login.token == "t0ken")
    }

    @Test("who was invited is shown the invitation first")
    func invitation() async throws {
        let world = try World()
        let link = "http://127.0.0.1:9/invite/8c365b1f0d2e47a9"
        #expect(await login(world, CodeServer(.success(.token("t"))), link) == .success)
        let join = try #require(
            world.err.firstRange(of: link + "?next=%2Fdevice%3Fcode%3DWDJB-MJH1"), "the page for the code comes next")
        #expect(try join.lowerBound < #require(world.err.firstRange(of: "WDJB")).lowerBound, "\(world.err)")
    }

    @Test("a refusal is one line and code 77")
    func refusal() async throws {
        let world = try World()
        #expect(await login(world, CodeServer(.success(.refused))) == .notAuthorised)
        #expect(world.err.split(separator: "\n").last == "byteclub: access was refused")
    }

    @Test("a server that forgot its codes gives a new one, which is shown")
    func forgotten() async throws {
        let world = try World()
        let server = CodeServer(.success(.over), .success(.token("t")))
        #expect(await login(world, server) == .success)
        #expect(server.codes == 2 && world.err.contains("WDJB-MJH2"), "\(world.err)")
    }

    @Test("when the time of the code is over it is one line and code 75")
    func late() async throws {
        let world = try World()
        let uptime = Mutex(Duration.zero)
        let server = CodeServer()
        let status = await login(world, server) { context in
            context.uptime = {
                uptime.withLock { now in
                    now += .seconds(200)
                    return now
                }
            }
        }
        #expect(status == .tryAgain && server.codes == 1)
        #expect(world.err.split(separator: "\n").last?.hasPrefix("byteclub: the code was not entered in time") == true)
    }

    @Test("Ctrl-C ends the waiting in one line")
    func interrupted() async throws {
        let world = try World()
        let press = Press()
        let status = await login(world, CodeServer(), interrupts: press.interrupts) { context in
            let ask = context.connector.shortCodeAnswer
            context.connector.shortCodeAnswer = { request, code, trust in
                press.now(.interrupted)
                return try await ask(request, code, trust)
            }
        }
        #expect(status == .interrupted)
        #expect(world.err.split(separator: "\n").last == "byteclub: cancelled", "\(world.err)")
    }

    @Test("what a server writes cannot steer the terminal")
    func escapes() async throws {
        let world = try World()
        let status = await login(world, CodeServer(.success(.token("t")))) { context in
            context.connector.shortCode = { _, _ in
                DeviceSignIn.Code(page: "https://x/\u{1B}[2J", text: "A\nB", lifetime: 60, interval: 0, secret: "s")
            }
        }
        #expect(status == .success && !world.err.contains("\u{1B}") && world.err.split(separator: "\n").count == 2)
    }

    @Test("a browser that does not start is followed by a code")
    func noBrowser() async throws {
        let world = try World()
        var context = world.context()
        context.environment = ["HOME": world.home.path]
        context.browser = Browser { _ in false }
        CodeServer(.success(.token("t"))).install(in: &context)
        #expect(await world.run("login", "http://127.0.0.1:9", in: context) == .success, "\(world.err)")
        #expect(world.err.contains("WDJB-MJH1"))
    }

    @Test("a server that does not answer is asked less and less, one that wants to be left alone less from then on")
    func pace() {
        var pace = AskingPace(interval: 3)
        pace.failed()
        #expect(pace.pause == 6)
        for _ in 0..<10 { pace.failed() }
        #expect(pace.pause == 60)
        pace.answered()
        #expect(pace.pause == 3)
        pace.slowDown()
        pace.answered()
        #expect(pace.pause == 8)
    }
}
