import Glibc
import TestSupport
import Testing

/// Kills the programs that download a file, at points that are spread over the download.
///
/// The server sends each program a share of what is left, and then waits: the points are bytes, which a slow machine
/// reaches as well, and, for the times before the first byte, random moments. The last quarter of the kills is at the
/// download's end and after it.
final class ExampleKills {
    private enum Point {
        /// Some time after the start.
        case time(Duration)
        /// The server has sent the share.
        case sent
        /// The share is on disk.
        case stored
    }

    /// How many kills there are: `BYTECLUB_KILLS`, 12 unless it is set.
    static var count: Int { Settings.number("BYTECLUB_KILLS") ?? 12 }

    /// Repeated by `BYTECLUB_SEED`.
    var generator: SeededGenerator
    private let seed: UInt64
    private let purpose: String
    private let machine: ListenerMachine
    private let path: String
    private let file: String
    /// Whether the program's daemon downloads.
    private let hasDaemon: Bool
    private let bytes: [UInt8]
    private var kills = 0
    /// How many requests were checked, and how many belong to programs that were killed.
    private var (checked, dead) = (0, 0)
    /// The bytes that were on disk when the last program was started, and the one before it.
    private var (before, earlier) = (0, 0)
    private var largestShare = 0
    /// How many kills may have lost bytes that were on their way.
    private var lossy = 0

    /// Prepares the kills of a download.
    ///
    /// - Parameters:
    ///   - purpose: Printed with the seed.
    ///   - machine: The machine; nothing else is downloaded to its folder.
    ///   - path: The path of the file on the server; at least 1 MiB if a daemon downloads, which saves no mark of less.
    ///   - file: The path of the complete file.
    ///   - hasDaemon: Whether the program's daemon downloads, and is killed as well.
    /// - Throws: An error if the server has no such file.
    init(_ purpose: String, _ machine: ListenerMachine, _ path: String, to file: String, hasDaemon: Bool) throws {
        (self.purpose, self.machine, self.path, self.file) = (purpose, machine, path, file)
        self.hasDaemon = hasDaemon
        bytes = try #require(machine.server.file(path)?.bytes)
        seed = Sample.seed("\(purpose) kills")
        generator = SeededGenerator(seed: seed)
    }

    /// Whether all kills are done.
    var isOver: Bool { kills >= Self.count }

    /// The last kill, for failed expectations.
    var comment: Comment { "\(purpose), kill \(kills) of \(Self.count), seed \(seed)" }

    /// Whether the file is complete.
    var isThere: Bool { LocalFiles.exists(file) }

    /// A random time after the start of a program.
    func time() -> Duration { .milliseconds(Int.random(in: 0...150, using: &generator)) }

    /// Starts a program, kills it and its daemon at the next point, and checks the file and the requests.
    ///
    /// When it returns, the server sends no byte of the file before the next call.
    func next(_ arguments: [String]) async throws {
        let firstOfEnd = Self.count - Self.count / 4
        let isEnding = kills >= firstOfEnd
        if kills == firstOfEnd, hasDaemon { try await waitForMark(arguments) }
        let (wasThere, stored) = (isThere, machine.part)
        (earlier, before) = (before, stored)
        let left = wasThere ? 0 : bytes.count - stored
        // All shares before the end are less than the whole.
        let most = max(min(left / 2, 2 * left / max(firstOfEnd - kills + 1, 1)), 1)
        let share = isEnding ? left : Int.random(in: 1...most, using: &generator)
        let point: Point =
            switch kills == 0 ? 0 : Int.random(in: 0..<4, using: &generator) {
            case 0: .time(kills == 0 ? .zero : time())
            case 1: .sent
            default: .stored
            }
        largestShare = max(largestShare, share)
        if case .stored = point {} else { lossy += 1 }
        machine.server.change(path) { $0.holdsAfter = isEnding ? nil : share }

        let process = try machine.start(arguments)
        switch point {
        case .time(let time): try await Task.sleep(for: time)
        case .sent, .stored:
            try await eventually("the point of \(comment)") {
                if isThere || (!hasDaemon && process.hasEnded) { return true }
                let requests = machine.server.requests(for: path)
                guard requests.count > dead, let last = requests.last else { return false }
                if case .sent = point { return last.bytesSent >= share }
                // At the end only the complete file is enough.
                return !isEnding && machine.part >= Self.start(of: last) + share
            }
        }
        process.kill9()
        let result = await process.result()
        if !hasDaemon { #expect(result.signal == SIGKILL || result.status == 0, "\(comment): \(result)") }
        killDaemon()
        kills += 1
        try check(wasThere: wasThere)
    }

    /// Kills the daemon, if one runs; the server sends no further byte of the file, and ends the dead connections.
    func killDaemon() {
        if let daemon = machine.daemon { Glibc.kill(daemon, SIGKILL) }
        machine.server.change(path) { $0.holdsAfter = 0 }
        machine.server.setDown(true)
        machine.server.setDown(false)
        dead = machine.server.requests(for: path).count
    }

    /// Kills the daemon in about half of the calls.
    func perhapsKillDaemon() { if Bool.random(using: &generator) { killDaemon() } }

    /// Lets a program, or its daemon, complete the file; checks the file, the requests and the folder.
    @discardableResult func finish(_ arguments: [String]) async throws -> ProgramResult {
        let (wasThere, stored) = (isThere, machine.part)
        (earlier, before) = (before, stored)
        machine.server.change(path) { $0.holdsAfter = nil }
        let result = try await machine.start(arguments).result()
        #expect(result.status == 0, "\(comment): \(result)")
        try await eventually("the file of \(comment)") { isThere }
        try check(wasThere: wasThere)
        let requests = machine.server.requests(for: path)
        if !wasThere { #expect(requests.last.map(Self.start) == stored, comment) }
        // A part that was killed before its journal has no byte.
        #expect(machine.part == 0, comment)
        let sent = machine.server.bytesSent(for: path)
        // A dead connection accepts a piece as well.
        #expect(sent <= bytes.count + lossy * max(largestShare, 32 << 10), comment)
        print("\(purpose): \(kills) kills, \(requests.count) requests, \(sent) bytes sent of \(bytes.count)")
        return result
    }

    /// Checks that the file is complete if it is there, and that no byte on disk was requested again.
    private func check(wasThere: Bool) throws {
        let names = (FileTree.names(in: machine.folder) ?? []).filter { !$0.hasPrefix(".") }
        let name = file.split(separator: "/").last.map(String.init)
        #expect(names.isEmpty || names == [name], comment)
        if isThere { #expect(Fixture.bytes(at: file) == bytes, comment) }
        let requests = machine.server.requests(for: path)
        for request in requests.dropFirst(checked) {
            #expect(!wasThere, "\(comment): requested again")
            let start = Self.start(of: request)
            // The server may read the request of a program that was killed a little later.
            let isRight = hasDaemon ? start >= earlier : start == before || start == earlier
            #expect(isRight, "\(comment): from \(start), with \(before) bytes on disk, and \(earlier) before")
        }
        checked = requests.count
    }

    /// Waits until the daemon has saved the mark by which its successor knows a complete file.
    private func waitForMark(_ arguments: [String]) async throws {
        machine.server.change(path) { $0.holdsAfter = 1 }
        let process = try machine.start(arguments)
        try await eventually("the mark of \(comment)") {
            (FileTree.names(in: machine.state + "/transfers") ?? []).contains { $0.hasSuffix(".checkpoint") }
        }
        process.kill9()
        _ = await process.result()
    }

    private static func start(of request: CatalogueServer.Request) -> Int {
        request.range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
    }
}
