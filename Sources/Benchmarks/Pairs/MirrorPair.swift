import Glibc
import TestSupport

/// Two folders that running programs keep in sync.
protocol MirrorPair: Sendable {
    /// The folder to write in.
    var one: String { get }
    /// The folder in which the changes must appear.
    var two: String { get }
    /// The programs, the first folder's first.
    var processes: [SpawnedProcess] { get }

    /// Whether its programs are there.
    static var isInstalled: Bool { get }

    /// Fills the first folder, then starts the programs below a folder that is empty.
    static func start(in folder: String, fill: (String) throws -> Void) async throws -> Self

    /// Stops shared parts of the pair, for example its server.
    func close() async
}

extension MirrorPair {
    static var isInstalled: Bool { true }

    func close() async {}

    /// Ends the programs.
    func end() async {
        for process in processes {
            process.send(SIGTERM)
            _ = await process.result()
        }
        await close()
    }

    /// Waits until the second folder has the expected contents, with a pause between checks.
    ///
    /// - Returns: The seconds since `start`.
    func wait(
        _ what: String, since start: ContinuousClock.Instant = .now, pause: Duration = .microseconds(200),
        limit: Double = 60, until isSo: () throws -> Bool
    ) async throws -> Double {
        while try !isSo() {
            if Stopwatch.seconds(since: start) > limit {
                throw Stopwatch.Failure(description: "\(what) did not arrive within \(limit) s")
            }
            if let ended = processes.first(where: \.hasEnded) {
                throw Stopwatch.Failure(description: "ended early: \(await ended.result())")
            }
            try await Task.sleep(for: pause)
        }
        return Stopwatch.seconds(since: start)
    }
}

/// Two members' mirrors and their server, everything durable.
struct ByteClubPair: MirrorPair {
    let one: String
    let two: String
    let processes: [SpawnedProcess]
    private let club: Club

    static func start(in folder: String, fill: (String) throws -> Void) async throws -> ByteClubPair {
        let club = try await Club.open(["ann", "bo"], in: folder)
        try fill(club.members[0].mirror)
        for member in club.members { try await member.sync(timeout: .seconds(900)).succeeded() }
        let syncs = try club.members.map { try $0.start(["sync", $0.mirror], timeout: .seconds(3600)) }
        try await Task.sleep(for: .seconds(3))
        return ByteClubPair(
            one: club.members[0].mirror, two: club.members[1].mirror, processes: syncs, club: club)
    }

    func close() async { await club.close() }
}

/// A program to compare with; a run skips those that are not installed, and lists them.
enum Peer: String, CaseIterable {
    case rclone, syncthing, unison, rsync, hyperfine

    var isInstalled: Bool { Program.system(rawValue) != nil }

    /// The flags with which rclone copies: without the pause of 10 ms before each WebDAV call, where it can do without.
    static func rcloneFlags() async -> [String] {
        guard let rclone = Program.system("rclone") else { return [] }
        let flags = try? await Program.run(rclone, ["help", "flags"])
        let isUnpaced = flags?.text.contains("--webdav-pacer-min-sleep") ?? false
        return ["--transfers", "4", "--ignore-times"] + (isUnpaced ? ["--webdav-pacer-min-sleep", "0"] : [])
    }

    /// A line about those that are left out; nil when there are none.
    static var missing: String? {
        let names = allCases.filter { !$0.isInstalled }.map(\.rawValue)
        return names.isEmpty ? nil : "(not installed, so left out: \(names.joined(separator: ", ")))"
    }
}
