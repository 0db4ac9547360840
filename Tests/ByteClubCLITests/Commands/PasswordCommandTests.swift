import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("byteclub password")
struct PasswordCommandTests {
    /// A server with passwords, which records changes.
    private final class Passwords: Sendable {
        private let state: Mutex<(known: String?, calls: Int)>

        init(_ known: String?) { state = Mutex((known, 0)) }

        var known: String? { state.withLock { $0.known } }
        var calls: Int { state.withLock { $0.calls } }

        func install(in context: inout Context) {
            context.connector.hasPassword = { _ in self.known != nil }
            context.connector.setPassword = { _, new, current in
                self.state.withLock { state in
                    state.calls += 1
                    guard state.known == current else { return false }
                    state.known = new
                    return true
                }
            }
        }
    }

    /// A terminal with these typed lines; the prompts are in the world's diagnostics.
    private static func typing(_ lines: [String], _ world: World, _ passwords: Passwords) -> Context {
        var context = world.context()
        context.terminal.isInputTerminal = true
        let left = Mutex(lines[...])
        let diagnostics = context.diagnostics
        context.input = Input(
            readAll: { _ in [] },
            readSecret: { prompt in
                try diagnostics.write(prompt + "\n")
                return left.withLock { $0.popFirst() } ?? ""
            })
        passwords.install(in: &context)
        return context
    }

    @Test("the first password is asked for twice, the next also takes the current one")
    func terminal() async throws {
        let world = try World()
        let passwords = Passwords(nil)
        let first = Self.typing(["long enough", "long enough"], world, passwords)
        #expect(await world.run("password", in: first) == .success, "\(world.err)")
        #expect(world.err == "New password: \nRepeat new password: \n" && passwords.known == "long enough")
        #expect(world.out == "your password is set; sign in with it at http://127.0.0.1:1\n")
        let second = Self.typing(["long enough", "another one", "another one"], world, passwords)
        #expect(await world.run("password", in: second) == .success, "\(world.err)")
        #expect(world.err.hasPrefix("Current password: \n") && passwords.known == "another one")
        #expect(world.out.hasPrefix("your password is changed"))
    }

    @Test("a wrong current password and two that differ change nothing")
    func refusals() async throws {
        let world = try World()
        let passwords = Passwords("the one")
        let wrong = Self.typing(["another", "brand new one", "brand new one"], world, passwords)
        #expect(await world.run("password", in: wrong) == .notAuthorised)
        #expect(world.err.contains("ask an owner of the club for a link"), "\(world.err)")
        let differing = Self.typing(["the one", "brand new one", "brand new two"], world, passwords)
        #expect(await world.run("password", in: differing) == .badData)
        #expect(passwords.known == "the one" && passwords.calls == 1 && world.out.isEmpty)
    }

    @Test("a script gives a line for each, and is told when there are too few or too many")
    func script() async throws {
        let world = try World()
        let passwords = Passwords(nil)
        for (input, status, known) in [
            ("a b\nlong enough\n", ExitStatus.usage, nil), ("long enough", .success, "long enough"),
            ("another one\n", .usage, "long enough"), ("long enough\nanother one\n", .success, "another one"),
        ] as [(String, ByteClubCLI.ExitStatus, String?)] {
            var context = world.context(input: input)
            passwords.install(in: &context)
            #expect(await world.run("password", "--password-stdin", in: context) == status, "\(world.err)")
            #expect(passwords.known == known)
            #expect(!world.err.contains("long enough") && !world.err.contains("another one"))
        }
        var none = world.context(input: "long enough\n")
        passwords.install(in: &none)
        #expect(await world.run("password", in: none) == .usage)
        #expect(world.err.contains("--password-stdin"))
    }

    @Test("a server that sets no passwords is told in one line")
    func oldServer() async throws {
        let world = try World()
        var context = world.context(input: "long enough\n")
        context.connector.hasPassword = { _ in nil }
        #expect(await world.run("password", "--password-stdin", in: context) == .configuration)
        #expect(world.err.contains("ask an owner") && world.err.split(separator: "\n").count == 1)
    }
}
