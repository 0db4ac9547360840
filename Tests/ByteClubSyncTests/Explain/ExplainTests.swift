import ByteClubCore
import Glibc
import TestSupport
import Testing

@testable import ByteClubSync

@Suite struct ExplainTests {
    private let mirror: MirrorFixture

    init() throws { mirror = try MirrorFixture() }

    private func explain(_ path: String, isRunning: Bool = true, onDisk: Bool? = nil) throws -> [SyncExplanation] {
        let fingerprint = FileFingerprint(device: 1, inode: 2, size: 3, modified: 4, changed: 5)
        let observation = onDisk.map { DiskObservation.entry(isFolder: $0, fingerprint) } ?? .nothing
        let facts = ExplainerFacts(
            isRunning: isRunning, now: 1_000, ignoreText: "# no drafts\n*.tmp\n", onDisk: { _ in observation })
        return try Explainer(mirror.store, facts).explain(path)
    }

    private func why(_ path: String, isRunning: Bool = true) throws -> SyncExplanation {
        let found = try explain(path, isRunning: isRunning)
        #expect(found.count == 1)
        return try #require(found.first)
    }

    @Test("an entry in sync has three equal rows and nothing in its way, whether a sync runs or not")
    func inSync() throws {
        let folder = try mirror.addFolder("Trips")
        try mirror.add("a.md", in: folder.id, disk: "hello", server: "hello", synced: "hello")
        let answer = try why("trips/A.md", isRunning: false)
        #expect(answer.state == .inSync && answer.blockers.isEmpty && answer.next.isEmpty)
        #expect(answer.disk?.path == "Trips/a.md" && answer.server?.path == "Trips/a.md")
        #expect(answer.disk?.hash == answer.synced?.hash && answer.server?.hash == answer.synced?.hash)
        #expect(answer.disk?.size == 5 && answer.server?.revision == "100000001" && answer.synced?.isFolder == false)
    }

    @Test("what is to be done is told with the rule, and that a sync must run for it")
    func pending() throws {
        try mirror.add("a.md", disk: "new", server: "old", synced: "old")
        let answer = try why("a.md")
        #expect(answer.state == .pending && answer.rule == "edited-on-disk" && answer.next == ["upload it"])
        let stopped = try why("a.md", isRunning: false)
        #expect(stopped.state == .blocked)
        #expect(stopped.blockers == ["sync is not running; start it with 'byteclub sync'"])
    }

    @Test("a path that nobody knows has no answer")
    func unknown() throws {
        #expect(try explain("nowhere").isEmpty)
        let unseen = try explain("new.md", onDisk: false)
        #expect(unseen.first?.state == .pending && unseen.first?.next.count == 1)
    }

    @Test("two entries under one path have an answer each")
    func twoEntries() throws {
        let mine = try mirror.add("a.md", disk: "mine")
        let theirs = try mirror.add("a.md", server: "theirs")
        let found = try explain("a.md")
        #expect(found.map { $0.disk != nil } == [true, false] && found.map { $0.server != nil } == [false, true])
        #expect(mine.id != theirs.id)
    }

    @Test("the true blocker is named for each fault")
    func blockers() throws {
        let folder = try mirror.addFolder("F")
        let file = try mirror.add("a.md", in: folder.id, disk: "new", server: "old", synced: "old")
        func blockers() throws -> [String] { try why("F/a.md").blockers }

        let unreadable = ProblemRecord(
            path: "F/a.md", item: file.id, message: "permission denied", isFromScan: true, nextAttempt: 1_060)
        try mirror.store.setProblem(unreadable, path: "F/a.md")
        #expect(try blockers() == ["permission denied"])
        #expect(try why("F/a.md").nextAttempt == 1_060)
        try mirror.store.setProblem(nil, path: "F/a.md")

        var frozen = folder
        frozen.isFrozen = true
        try mirror.store.save(frozen)
        #expect(try blockers().contains("the folder 'F' cannot be read now"))
        try mirror.store.setProblem(
            ProblemRecord(path: "F", item: folder.id, message: "input/output error", isFromScan: true), path: "F")
        #expect(try blockers().first == "'F': input/output error")
        try mirror.store.setProblem(nil, path: "F")
        try mirror.store.save(folder)

        try mirror.store.setMeta(.pausedUntil, "forever")
        #expect(try blockers() == ["syncing is paused until it is resumed"])
        try mirror.store.setMeta(.pausedUntil, "4600")
        #expect(try blockers() == ["syncing is paused for another 1 hour"])
        try mirror.store.setMeta(.pausedUntil, "1000")
        #expect(try blockers().isEmpty)

        try mirror.store.setMeta(.metered, "1")
        #expect(try blockers() == ["the network is metered, and the sync waits for an unmetered one"])
        try mirror.store.setMeta(.metered, nil)

        try mirror.store.save(ObstacleRecord(since: 880, message: "the server cannot be reached"))
        #expect(try blockers() == ["the server cannot be reached, for 2 minutes"])
        try mirror.store.replace([ObstacleRecord]())
        #expect(try blockers().isEmpty)
    }

    @Test("what the delete guard holds says so, and what is in a held folder, too")
    func held() throws {
        let folder = try mirror.add("F", server: "", synced: "", isFolder: true)
        try mirror.add("a.md", in: folder.id, server: "x", synced: "x")
        try mirror.store.setAll([
            HeldDeletionRecord(item: folder.id, side: .remote, path: "F", since: 5)
        ])
        let line = "its deletion on the server is held; see 'byteclub sync deletes review'"
        #expect(try why("F").blockers.first == line)
        #expect(try why("F/a.md").blockers.first == line)
    }

    @Test("what is kept out names the line or the folder that does it")
    func excluded() throws {
        try mirror.add("x.tmp", disk: "x") { $0.isExcluded = true }
        try Selection([PathKey(folded: "/photos"), PathKey(folded: "/old/things")]).save(in: mirror.store)
        let photos = try mirror.add("photos", server: "", isFolder: true) { $0.isExcluded = true }
        try mirror.add("p.jpg", in: photos.id, server: "x")
        let ignored = try why("x.tmp")
        #expect(ignored.state == .excluded && ignored.blockers == ["line 2 of .byteclubignore ignores it: *.tmp"])
        let left = try why("photos/p.jpg")
        #expect(left.state == .excluded && left.blockers == ["the folder 'photos' is not selected for this machine"])
        #expect(try explain("y.tmp", onDisk: false).first?.state == .excluded)
        #expect(try explain(".DS_Store", onDisk: false).first?.blockers == ["names like this are never synced"])
        #expect(try explain(".a.md.swp", onDisk: false).first?.blockers.first?.contains("'!NAME'") == true)
        #expect(try explain("old/things/a").first?.state == .excluded)
    }

    @Test("what waits for its folder names the folder and what keeps that")
    func waitsForParent() throws {
        let folder = try mirror.add("F", disk: "", isFolder: true) { $0.isFrozen = true }
        try mirror.add("a.md", in: folder.id, disk: "x")
        try mirror.store.setProblem(
            ProblemRecord(path: "F", item: folder.id, message: "its name is too long for the server", isFromScan: true),
            path: "F")
        let answer = try why("F/a.md")
        #expect(answer.state == .blocked)
        #expect(answer.blockers.first == "'F': its name is too long for the server")
    }

    @Test("what is new in a folder that is deleted on the other side waits for the folder to come back")
    func waitsForReturn() throws {
        let folder = try mirror.add("F", disk: "", synced: "", isFolder: true)
        try mirror.add("a.md", in: folder.id, disk: "x")
        #expect(try why("F/a.md").blockers == ["its folder must be there first: 'F'"])
    }

    @Test("a path that only has a problem says which")
    func problemAlone() throws {
        try mirror.store.setProblem(
            ProblemRecord(path: "link", message: "symbolic links are not synced", isFromScan: true), path: "link")
        #expect(try why("link").blockers == ["symbolic links are not synced"])
        #expect(try why("link/inside").blockers == ["'link': symbolic links are not synced"])
    }

    @Test("status and log tell what the database knows while an engine has it")
    func status() throws {
        let folder = try mirror.addFolder("F")
        try mirror.add("a.md", in: folder.id, disk: "hello", server: "hello", synced: "hello")
        try mirror.add("b.md", disk: "new")
        try mirror.store.setMeta(.lastSync, "77")
        try mirror.store.setMeta(.pausedUntil, "forever")
        try mirror.store.log(LogRecord(at: 1, path: "F/a.md", event: "upload", rule: "edited-on-disk"))
        let status = try SyncEngine.status(of: mirror.configuration)
        #expect(status.isKnown && !status.isRunning && status.isPaused && status.pausedUntil == nil)
        #expect((status.files, status.folders, status.bytes, status.pending) == (1, 1, 5, 1))
        #expect(status.lastSync == 77)
        #expect(
            try SyncEngine.log(of: mirror.configuration, below: "F", after: nil, limit: 9)
                == [SyncLogEntry(seq: 1, at: 1, path: "F/a.md", event: "upload", rule: "edited-on-disk")])
        try mirror.store.log(LogRecord(at: 2, path: "b.md", event: "upload"))
        let later = try SyncEngine.log(of: mirror.configuration, below: nil, after: 1, limit: 9)
        #expect(later == [SyncLogEntry(seq: 2, at: 2, path: "b.md", event: "upload")])
        #expect(try SyncEngine.log(of: mirror.configuration, below: nil, after: 2, limit: 9).isEmpty)
        let lock = try #require(try MirrorLock(in: mirror.configuration.stateDirectory))
        #expect(try SyncEngine.status(of: mirror.configuration).isRunning)
        lock.markClean()
    }

    @Test("copies that arose elsewhere are in the status as in the list of conflicts, with who made them")
    func conflicts() throws {
        let folder = try mirror.addFolder("F")
        let copies = ["plan (bo, conflict 2026-11-22 1403).md", "plan (conflict 2026-11-22 1404).md"]
        // No copies: the first has no original, the others no copy's name.
        let others = ["other (bo, conflict 2026-11-22 1403).md", "the conflict (2).md", "conflict plan.md"]
        for name in ["plan.md"] + others + copies {
            try mirror.add(name, in: folder.id, disk: name, server: name, synced: name)
        }
        try FileDescriptor.open(mirror.configuration.directory, O_RDONLY).makeDirectory("F")
        for copy in copies { try mirror.write(copy, to: "F/" + copy) }
        let list = try SyncEngine.conflicts(of: mirror.configuration, all: false)
        #expect(Set(list.map(\.copy)) == Set(copies.map { "F/" + $0 }) && list.allSatisfy { $0.path == "F/plan.md" })
        #expect(list.allSatisfy { $0.isElsewhere })
        #expect(list.sorted { $0.copy < $1.copy }.map(\.member) == ["bo", nil])
        #expect(try SyncEngine.status(of: mirror.configuration).conflicts == list)
        let first = try #require(list.first)
        try SyncEngine.resolve(first, keeping: .both, of: mirror.configuration)
        #expect(try SyncEngine.status(of: mirror.configuration).conflicts == Array(list.dropFirst()))
    }

    @Test("a mirror without a database is not known, and nothing is made for it")
    func noDatabase() throws {
        let empty = try TemporaryDirectory()
        let configuration = SyncConfiguration(directory: empty.path, stateDirectory: empty.path + "/none")
        #expect(try SyncEngine.status(of: configuration) == SyncStatus())
        #expect(try SyncEngine.explain("a", of: configuration).isEmpty)
        #expect(try SyncEngine.approveDeletions(of: configuration).isEmpty)
        #expect(unsafe access(empty.path + "/none", F_OK) != 0)
    }
}
