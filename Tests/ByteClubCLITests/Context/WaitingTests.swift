import ByteClubCore
import MemoryRemote
import Testing

@testable import ByteClubCLI

@Suite("Waiting for a server") struct WaitingTests {
    private static let terminal = Terminal(
        isInputTerminal: false, isOutputTerminal: false, isErrorTerminal: true, columns: { 80 })

    @Test("a terminal is told of the club that is waited for, and the line goes away with the answer")
    func sign() async throws {
        let world = try World()
        world.server.fault = { operation throws(RemoteError) in
            guard operation.moment == .before else { return }
            while !world.err.contains("waiting for the club at 127.0.0.1:1 …") { await Task.yield() }
        }
        var context = world.context(terminal: Self.terminal)
        context.serverPatience = .zero
        #expect(await world.run("whoami", in: context) == .success)
        #expect(world.err.hasSuffix(" \r"), "\(world.err.debugDescription)")
    }

    @Test("a pipe is told nothing")
    func pipe() async throws {
        let world = try World()
        var context = world.context()
        context.serverPatience = .zero
        #expect(await world.run("whoami", in: context) == .success && world.err.isEmpty)
    }
}
