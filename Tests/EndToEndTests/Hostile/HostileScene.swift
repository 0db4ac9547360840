import ByteClubCore
import Glibc
import Synchronization
import TestSupport
import Testing

/// A club with a few entries whose server lies when it is told to, and the programs that ask it.
final class HostileScene: Sendable {
    /// The most memory that a lie may take over what the same command takes of an honest server.
    static let mostMemory: Int64 = 64 << 20
    /// What a command that talks to a server takes at least.
    static let leastMemory: Int64 = 16 << 20
    /// The most processor time in seconds that a program may use on a lie; more than it takes is a hang, whatever the
    /// machine does besides.
    static let mostProcessor = 5.0

    let liar: LiarClub
    /// A place that only the client reaches, which nobody must be sent to.
    let elsewhere: String
    let visits: Visits
    /// 300 MB of nothing as gzip.
    let bomb: [UInt8]
    private let listener: LoopbackListener
    private let token: String
    private let honest = Mutex<[String: Int64]>([:])
    private let machines = Mutex(0)

    /// Counts who comes to a place.
    final class Visits: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    private init(_ liar: LiarClub, _ listener: LoopbackListener, _ visits: Visits, _ bomb: [UInt8], _ token: String) {
        (self.liar, self.listener, self.visits, self.bomb, self.token) = (liar, listener, visits, bomb, token)
        elsewhere = "http://127.0.0.1:\(listener.port)/1/"
    }

    deinit { listener.stop() }

    static func start(_ wire: Wire) async throws -> HostileScene {
        let liar = try await LiarClub.start(wire)
        var generator = SeededGenerator(seed: 11)
        for (path, bytes) in [
            ("mine.md", Array("a note\n".utf8)), ("long.bin", Sample.note("long", length: 100_000, using: &generator)),
            ("photos/city.jpg", Fixture.bytes("panoramas/city.jpg")),
        ] { #expect(try await liar.club.api.put(bytes, "/byteclub/" + path).status == 200) }
        let visits = Visits()
        let listener = try LoopbackListener()
        listener.start { descriptor in
            visits.add()
            close(descriptor)
        }
        let gzip = try await Program.run(
            "/bin/sh", ["-c", "head -c 300000000 /dev/zero | gzip -1"], timeout: .seconds(120))
        #expect(gzip.output.count > 100_000)
        let token = try await liar.club.server.addMember("eve")
        return HostileScene(liar, listener, visits, gzip.output, token)
    }

    /// Has a program ask while the server lies, and then while it does not.
    func tell(_ lie: HostileLie) async throws {
        let ann = try await machine()
        let name = "\(lie.gain) (\(liar.club.wire), \(lie.command.joined(separator: " ")))"
        if lie.command.last == "verify" { try await expectSynced(ann) }
        if lie.target == liar.club.wire.uploads {
            try LocalFiles.write("mine \(ann.name)\n", to: ann.mirror + "/\(ann.name).md")
        }
        let baseline = try await baseline(lie.command)
        let outside = outside(ann)

        liar.lie.withLock { $0 = (.own(lie.answer), lie.target) }
        let result = try await run(lie.command, ann)
        liar.lie.withLock { $0 = nil }
        check(result, lie, name, baseline)
        #expect(self.outside(ann) == outside, "\(name): something was written outside of the mirror")

        let after = try await run(lie.command, ann)
        #expect(after.status == 0, "\(name): an honest server afterwards: \(after)")
        TemporaryDirectory.remove(liar.club.folder.path + "/output.jpg")
        if lie.command == ["sync"] {
            #expect(
                Set(FileTree(ann.mirror).files).isSuperset(of: ["long.bin", "mine.md", "photos/city.jpg"]), "\(name)")
            #expect(Fixture.bytes(at: ann.mirror + "/mine.md") == Array("a note\n".utf8), "\(name)")
        }
        TemporaryDirectory.remove(ann.home)
    }

    private func check(_ result: ProgramResult, _ lie: HostileLie, _ name: String, _ baseline: Int64) {
        #expect(lie.statuses.contains(result.status), "\(name): \(result)")
        #expect(result.signal == nil && !result.isTimedOut, "\(name): \(result)")
        // How far a download has come and what a sync has done besides is no part of what is told of the lie.
        let told = result.errorLines.filter {
            !$0.hasPrefix("byteclub: not in sync yet: ") && !$0.hasPrefix("city.jpg  ")
                && !$0.hasPrefix("downloading city.jpg")
        }
        #expect(told.count == 1 && told.allSatisfy { $0.hasPrefix("byteclub: ") }, "\(name): not one line: \(result)")
        #expect(result.errorText.utf8.count < 2_000, "\(name): \(result.errorText.utf8.count) bytes are no line")
        let controls = (result.errorText + result.text).unicodeScalars.filter { scalar in
            (scalar.value < 0x20 && scalar != "\n") || (0x7F...0x9F).contains(scalar.value)
        }
        #expect(controls.isEmpty, "\(name): \(result)")
        let memory = result.peakMemory - baseline
        #expect(memory < Self.mostMemory, "\(name): \(memory >> 20) MiB more than with an honest server")
        #expect(result.processorSeconds < Self.mostProcessor, "\(name): \(result.processorSeconds) s: \(result)")
        print("\(name): \(memory >> 10) KiB more, \(result.processorSeconds) s; \(told.joined().prefix(300))")
    }

    /// Has a mirror follow the server while it lies and until it does not any more.
    func follow(_ lie: HostileLie) async throws {
        let ann = try await machine()
        let name = "\(lie.gain) (\(liar.club.wire), following)"
        liar.lie.withLock { $0 = (.own(lie.answer), lie.target) }
        let process = try ann.start(["sync", ann.mirror], timeout: .seconds(120))
        let line = await process.line(of: .errors) { $0.hasPrefix("byteclub: ") }
        #expect(line?.contains("retrying") == true, "\(name): \(line ?? "nothing was told")")
        #expect(!process.hasEnded, "\(name)")
        liar.lie.withLock { $0 = nil }
        let file = ann.mirror + "/mine.md"
        try await eventually(name) { Fixture.bytes(at: file) == Array("a note\n".utf8) }
        process.send(SIGTERM)
        let result = await process.result()
        #expect(!result.isTimedOut && result.status == 143, "\(name): \(result)")
        #expect(result.processorSeconds < Self.mostProcessor, "\(name): \(result.processorSeconds) s")
        TemporaryDirectory.remove(ann.home)
    }

    /// A new machine of a member who has logged in.
    private func machine() async throws -> MemberMachine {
        let number = machines.withLock { number in
            number += 1
            return number
        }
        let machine = liar.club.machine("eve\(number)")
        let login = try await run(["login"], machine)
        try #require(login.status == 0, "\(login)")
        return machine
    }

    /// How much memory a command takes of an honest server; some have ended before they could be looked at.
    private func baseline(_ command: [String]) async throws -> Int64 {
        let name = command.joined(separator: " ")
        if let known = honest.withLock({ $0[name] }) { return known }
        let machine = try await machine()
        if command.last == "verify" { try await expectSynced(machine) }
        let result = try await run(command, machine)
        #expect(result.status == 0, "\(result)")
        TemporaryDirectory.remove(liar.club.folder.path + "/output.jpg")
        let memory = max(result.peakMemory, Self.leastMemory)
        honest.withLock { $0[name] = memory }
        return memory
    }

    private func run(_ command: [String], _ machine: MemberMachine) async throws -> ProgramResult {
        switch command {
        case ["sync"]: try await machine.sync()
        case ["sync", "verify"]: try await machine.start(command + [machine.mirror]).result()
        case ["login"]:
            try await machine.byteclub(
                "login", liar.proxy.url, "--token-stdin", input: Array((token + "\n").utf8))
        default: try await machine.start(command).result()
        }
    }

    /// All that is there beside a machine's mirror and what the program keeps for itself.
    private func outside(_ machine: MemberMachine) -> [String] {
        let own = ["mirror", "state", "config"].map { machine.name + "/" + $0 } + ["data"]
        return FileTree.paths(below: liar.club.folder.path, leavingOut: Set(own))
    }
}
