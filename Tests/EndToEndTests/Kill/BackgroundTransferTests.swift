import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Background transfers") struct BackgroundTransferTests {
        @Test(
            "a photo goes up though the program ends, the daemon is killed and the server restarted, once, byte for byte"
        )
        func upload() async throws {
            var scene = try await Scene("upload")
            let start = try await scene.ann.byteclub(
                "photos", "upload", "--background", "--json", "--limit-rate", Scene.rate, scene.file)
            #expect(start.status == 0 && start.seconds < 10, "\(start)")
            let id = try #require(try JSONValue.parse(start.output)["id"]?.text, "\(start)")
            #expect(start.errorText.contains("'byteclub transfers'"), "\(start)")
            // Not a second time, while it is on its way.
            let again = try await scene.ann.byteclub("photos", "upload", "--background", "--json", scene.file)
            #expect(try JSONValue.parse(again.output)["id"]?.text == id, "\(again)")
            try await scene.disturb(id)
            try await scene.wait(for: id)
            #expect(try await scene.photos() == ["big.jpg"])
            let copy = scene.ann.home + "/copy.jpg"
            #expect(try await scene.ann.byteclub("photos", "download", "big.jpg", "-o", copy).status == 0)
            #expect(try await Program.run("/usr/bin/cmp", [copy, scene.file]).status == 0)
            scene.check(moved: scene.received)
        }

        @Test("a photo comes down through the same, is there only when it is whole, and is what the server has")
        func download() async throws {
            var scene = try await Scene("download")
            #expect(try await scene.ann.byteclub("photos", "upload", scene.file).status == 0)
            try await scene.count()
            (scene.sent, scene.received) = (0, 0)
            let copy = scene.ann.home + "/copies/copy.jpg"
            LocalFiles.makeFolder(scene.ann.home + "/copies")
            let start = try await scene.ann.byteclub(
                "photos", "download", "--background", "--json", "--limit-rate", Scene.rate, "big.jpg", "-o", copy)
            let id = try #require(try JSONValue.parse(start.output)["id"]?.text, "\(start)")
            #expect(Fixture.bytes(at: copy).isEmpty)
            try await scene.disturb(id)
            try await scene.wait(for: id)
            #expect(try await Program.run("/usr/bin/cmp", [copy, scene.file]).status == 0)
            #expect(FileTree.names(in: scene.ann.home + "/copies") == ["copy.jpg"], "something is left beside it")
            scene.check(moved: scene.sent)
        }
    }
}

/// A member with a large photo and a server, whose daemon and server are ended at random moments.
private struct Scene {
    /// Slow enough that there is time to be killed in.
    static let rate = "12M"
    /// What may be sent again for each end of the daemon or the server, in bytes: a chunk, with what was on the wire.
    private static let chunk: Int64 = 1 << 20
    private static let wire: Int64 = 6 << 20

    let ann: MemberMachine
    let file: String
    /// What the server has received and sent since the counters were set to 0.
    var received: Int64 = 0
    var sent: Int64 = 0
    private let folder: TemporaryDirectory
    private let server: ServerProcess
    private let daemon: DaemonProcess
    private var counters: ByteCounters
    private var before: (received: Int64, sent: Int64) = (0, 0)
    private var random: SeededGenerator
    private var disturbances = 0

    init(_ purpose: String) async throws {
        random = SeededGenerator(seed: Sample.seed("background \(purpose) kills"))
        folder = try TemporaryDirectory()
        server = try await ServerProcess(data: folder.path + "/data", arguments: ByteCounters.arguments)
        counters = try await ByteCounters(of: server)
        let token = try await server.addMember("ann")
        ann = MemberMachine("ann", in: folder.path)
        daemon = DaemonProcess(state: ann.home + "/state")
        let login = try await ann.byteclub("login", server.url, "--token-stdin", input: Array((token + "\n").utf8))
        try #require(login.status == 0, "\(login)")
        file = ann.home + "/big.jpg"
        try LocalFiles.writeLarge(
            head: Fixture.bytes("panoramas/city.jpg"), length: Settings.uploadMebibytes << 20, seed: random.next(),
            to: file)
    }

    /// Kills the daemon again and again while bytes move, and restarts the server once.
    mutating func disturb(_ id: String) async throws {
        let restart = Int.random(in: 0..<max(1, Settings.backgroundKills), using: &random)
        for round in 0..<Settings.backgroundKills {
            guard try await moves(id) else { return }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<500, using: &random)))
            if daemon.kill9() { disturbances += 1 }
            guard round == restart, try await moves(id) else { continue }
            try await count()
            await server.stop()
            try await Task.sleep(for: .milliseconds(300))
            try await server.start()
            counters = try await ByteCounters(of: server)
            before = (0, 0)
            disturbances += 1
        }
    }

    /// Waits until a transfer is running, which starts the daemon; false when it has ended before.
    private func moves(_ id: String) async throws -> Bool {
        for _ in 0..<600 {
            let result = try await ann.byteclub("transfers", "--json")
            let all = try JSONValue.parse(result.output).elements
            let transfer = try #require(all.first { $0["id"]?.text == id }, "\(result)")
            switch transfer["state"]?.text {
            case "running": return true
            case "waiting": try await Task.sleep(for: .milliseconds(50))
            default: return false
            }
        }
        Issue.record("the transfer does not run")
        return false
    }

    /// Waits for the end of a transfer, which is done then.
    mutating func wait(for id: String) async throws {
        let result = try await ann.byteclub(
            "transfers", "wait", String(id.prefix(8)), "--json", timeout: .seconds(240))
        #expect(result.status == 0, "\(result)")
        let ended = try JSONValue.parse(result.output).elements.first
        #expect(ended?["state"]?.text == "done", "\(result)")
        try await count()
        #expect(try await ann.byteclub("daemon", "--stop").status == 0)
    }

    /// Adds what the server has moved since the last look.
    mutating func count() async throws {
        let now = (received: try await counters.received(), sent: try await counters.sent())
        received += now.received - before.received
        sent += now.sent - before.sent
        before = now
    }

    /// The names of the photos on the server.
    func photos() async throws -> [String] {
        let result = try await ann.byteclub("photos", "list", "--json")
        return try JSONValue.parse(result.output).elements.compactMap { $0["name"]?.text }
    }

    /// Holds the bytes that moved against those that had to.
    func check(moved: Int64) {
        let size = Int64(Settings.uploadMebibytes) << 20
        let again = max(0, moved - size)
        let most = Int64(disturbances) * (Self.chunk + Self.wire) + 1 << 20
        #expect(again <= most, "\(again) bytes moved again over \(disturbances) disturbances")
        print("\(size >> 20) MiB, \(disturbances) disturbances: \(again) bytes moved again")
    }
}

/// The daemon of a member's transfers, which nobody in this process has started.
struct DaemonProcess {
    /// The member's folder for state.
    let state: String

    /// Kills it; false when none runs.
    func kill9() -> Bool {
        guard let process else { return false }
        return kill(process, SIGKILL) == 0
    }

    private var process: pid_t? {
        let candidates = (FileTree.names(in: "/proc") ?? []).compactMap { pid_t($0) }
        return candidates.first { process in
            let words = Fixture.bytes(at: "/proc/\(process)/cmdline").split(separator: 0).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard words.last == "daemon", words.first?.hasSuffix("/byteclub") == true else { return false }
            let variables = Fixture.bytes(at: "/proc/\(process)/environ").split(separator: 0)
            return variables.contains { String(decoding: $0, as: UTF8.self) == "XDG_STATE_HOME=\(state)" }
        }
    }
}
