import ByteClubCore
import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI
@testable import ByteClubSync

/// The commands that ask a mirror's database, without an engine.
@Suite struct MirrorCommandTests {
    private let world: World
    private let mirror: String
    private let store: SQLiteTreeStore

    init() throws {
        world = try World()
        mirror = world.home.path + "/club"
        let location = try MirrorPlace(mirror, world.context())
        try location.prepare(SyncEngine.self, isDryRun: false)
        try location.remember(SyncEngine.self)
        store = try SQLiteTreeStore(path: location.configuration.databasePath)
    }

    private func add(_ name: String, disk: String?, server: String?, synced: String?) throws -> ItemID {
        let location = Location(.root, EntryName(name))
        let hash = { (text: String) in ContentHasher.hash(Array(text.utf8)) }
        var item = Item(try store.newItem())
        item.local = disk.map {
            LocalState(location: location, isFolder: false, hash: hash($0), size: Int64($0.utf8.count))
        }
        item.remote = server.map {
            RemoteState(
                location: location, isFolder: false, hash: hash($0), size: Int64($0.utf8.count), revision: .number(3))
        }
        let base = synced.map {
            SyncedState(
                location: location, isFolder: false, hash: hash($0), size: Int64($0.utf8.count), revision: .number(3))
        }
        item.setBase(base)
        try store.save(item)
        return item.id
    }

    private func write(_ text: String, _ name: String) throws {
        try LocalFile.replace(mirror + "/" + name, with: Array(text.utf8))
    }

    @Test("why shows what each side has, what is to be done and what is in the way")
    func why() async throws {
        let id = try add("plan.md", disk: "new", server: "old", synced: "old")
        try store.setProblem(
            ProblemRecord(
                path: "plan.md", item: id, message: "it is being written", isFromScan: false,
                nextAttempt: 1_764_000_000), path: "plan.md")
        #expect(await world.run("why", "plan.md") == .success, "\(world.err)")
        try Golden.check(world.out, "why.txt")
        #expect(await world.run("why", mirror + "/plan.md", "--json") == .success)
        let json = world.out
        #expect(json.contains(#""rule" : "edited-on-disk""#) && json.contains(#""state" : "blocked""#), "\(json)")
    }

    @Test("a path that nobody knows is code 66, and so is one outside of the mirror")
    func unknown() async throws {
        #expect(await world.run("why", "nowhere.md") == .noInput)
        #expect(world.err == "byteclub: no 'nowhere.md' in the mirror or on the server\n")
        try store.log(LogRecord(at: 0, path: "nowhere.md", event: "delete-remote"))
        #expect(await world.run("why", "nowhere.md") == .noInput)
        #expect(world.err.contains("last logged event: delete-remote, 1970-01-01 00:00"))
        #expect(await world.run("why", "/elsewhere/a") == .noInput)
        #expect(world.err.contains("is not in the mirror"))
    }

    @Test("the log tells its newest events last, of all or of what is in a folder")
    func log() async throws {
        for number in 0..<3 {
            try store.log(
                LogRecord(
                    at: Int64(number) * 60, path: number == 1 ? "other" : "Trips/\(number).md", event: "upload",
                    rule: "edited-on-disk"))
        }
        #expect(await world.run("log") == .success, "\(world.err)")
        let lines = world.out.split(separator: "\n")
        #expect(lines.count == 3 && lines.last == "1970-01-01T00:02:00Z\tuploaded\tTrips/2.md\tedited on disk")
        #expect(await world.run("log", "Trips/", "--limit", "1") == .success)
        #expect(world.out == "1970-01-01T00:02:00Z\tuploaded\tTrips/2.md\tedited on disk\n")
        #expect(await world.run("log", mirror, "--json") == .success)
        #expect(world.out.components(separatedBy: #""event" : "upload""#).count == 4)
    }

    @Test("following the log tells each event once, those that come later too")
    func follow() async throws {
        try store.log(LogRecord(at: 0, path: "a.md", event: "upload"))
        let lines = Mutex<[String]>([])
        var context = world.context()
        context.output = Output { bytes in
            let count = lines.withLock { lines in
                lines += String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
                return lines.count
            }
            // The reader closes the pipe.
            if count >= 3 { throw Output.BrokenPipe() }
        }
        let task = Task { [world, context] in await world.run("log", "--follow", in: context) }
        try await eventually("the first event is told") { lines.withLock { $0.count } == 1 }
        for name in ["b.md", "c.md"] { try store.log(LogRecord(at: 0, path: name, event: "download")) }
        #expect(await task.value == .success)
        let told = lines.withLock { $0 }.map { $0.split(separator: "\t").dropFirst().joined(separator: " ") }
        #expect(told == ["uploaded a.md", "downloaded b.md", "downloaded c.md"])
    }

    @Test(
        "what follows the log on a terminal is written at once, and no pager waits for its end",
        .timeLimit(.minutes(1)))
    func followOnTerminal() async throws {
        for name in ["a.md", "b.md", "c.md"] { try store.log(LogRecord(at: 0, path: name, event: "upload")) }
        let reader = LineReader(lines: 4)
        let (context, file) = reader.context(of: world)
        #expect(await world.run("log", "--follow", in: context) == .success, "\(world.err)")
        #expect(reader.count >= 4 && !LocalFile.exists(file))
    }

    @Test("times are RFC 3339 in JSON")
    func jsonTimes() async throws {
        try store.setMeta(.lastSync, "1375780500")
        try store.log(LogRecord(at: 1_375_780_500, path: "a.md", event: "upload"))
        for command in ["status", "mirrors", "log"] {
            #expect(await world.run(command, "--json") == .success)
            #expect(world.out.contains(#""2013-08-06T09:15:00Z""#) && !world.out.contains("1375780500"), "\(world.out)")
        }
        #expect(!world.out.contains("null"))
    }

    @Test("held deletions are reviewed, approved and taken back")
    func deletes() async throws {
        #expect(await world.run("sync", "deletes", "review") == .success)
        #expect(world.out == "no held deletions\n")
        let gone = try add("a.md", disk: nil, server: "x", synced: "x")
        let lost = try add("b.md", disk: "y", server: nil, synced: "y")
        try store.setAll([
            HeldDeletionRecord(item: gone, side: .remote, path: "a.md", since: 0),
            HeldDeletionRecord(item: lost, side: .local, path: "b.md", since: 0),
        ])
        #expect(await world.run("sync", "deletes", "review", mirror) == .success)
        #expect(
            world.out == """
                a.md: removed here, would be removed on the server, held since 1970-01-01 00:00
                b.md: removed on the server, would be removed here, held since 1970-01-01 00:00

                """)
        #expect(await world.run("sync", "deletes", "approve", "--json") == .success)
        #expect(world.out.contains(#""decision" : "approved""#))
        #expect(try store.records(ApprovedDeletion.self).map(\.item) == [gone, lost])
        #expect(await world.run("sync", "deletes", "restore") == .success)
        #expect(world.out == "a.md: will be downloaded again\nb.md: will be uploaded again\n")
        #expect(try store.heldDeletions().isEmpty && store.records(ApprovedDeletion.self).isEmpty)
        #expect(try store.item(gone)?.synced == nil && store.item(lost)?.synced == nil)
    }

    @Test("an approval that only leaves deleted what was to come back says so")
    func givenUp() async throws {
        let gone = try add("a.md", disk: nil, server: nil, synced: "x")
        var sent = SentDeletion(gone, path: "a.md", revision: .number(3), hash: nil)
        sent.isWanted = true
        try store.save(sent)
        #expect(await world.run("sync", "deletes", "approve") == .success)
        #expect(world.out == "a.md: stays removed\n")
        #expect(try store.records(SentDeletion.self).isEmpty)
        #expect(await world.run("sync", "deletes", "approve") == .success)
        #expect(world.out == "no held deletions\n")
    }

    @Test("a directory may be called like a subcommand")
    func namedDeletes() async throws {
        let directory = world.home.path + "/deletes"
        try LocalFile.makeDirectory(directory)
        #expect(await world.run("sync", directory, "--once", "--dry-run") == .success, "\(world.err)")
        #expect(world.err == "byteclub: nothing to do\n")
    }

    @Test("conflicts are listed, shown and settled")
    func conflicts() async throws {
        #expect(await world.run("conflicts", "list") == .success)
        #expect(world.out == "no conflicts\n")
        let copy = "plan (conflict 1a2b3c4d).md"
        try write("one\ntwo\n", "plan.md")
        try write("one\nzwei\n", copy)
        try store.save(ConflictRecord(path: "plan.md", copy: copy, winner: nil, loser: nil, at: 0))
        #expect(await world.run("conflicts", "list") == .success)
        #expect(world.out == "1970-01-01T00:00:00Z\tplan.md\t\(copy)\t\t\n")
        #expect(await world.run("conflicts", "show", "plan.md") == .success, "\(world.err)")
        #expect(world.out == "--- plan.md\n+++ \(copy)\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n")
        #expect(await world.run("conflicts", "show", "plan.md", "--json") == .success)
        #expect(world.out.contains(#""diff" : "--- plan.md\n"#))
        #expect(await world.run("conflicts", "show", "other.md") == .noInput)
        #expect(await world.run("conflicts", "resolve", "plan.md", "--keep", "mine") == .success, "\(world.err)")
        #expect(try LocalFile.read(mirror + "/plan.md") == Array("one\nzwei\n".utf8))
        #expect(!LocalFile.exists(mirror + "/" + copy))
        #expect(await world.run("conflicts", "resolve", "plan.md", "--keep", "mine") == .noInput)
        #expect(await world.run("conflicts", "list", "--all") == .success)
        #expect(world.out == "1970-01-01T00:00:00Z\tplan.md\t\(copy)\tresolved\t\n")
    }

    @Test("a conflict is found by every spelling of its name, and the entry that has it is shown and replaced")
    func spellings() async throws {
        let copy = "CASE (conflict 1a2b3c4d).md"
        _ = try add("case.md", disk: "one\n", server: "one\n", synced: "one\n")
        try write("one\n", "case.md")
        try write("two\n", copy)
        try store.save(ConflictRecord(path: "CASE.md", copy: copy, winner: nil, loser: nil, at: 0))
        #expect(await world.run("conflicts", "list") == .success)
        #expect(
            world.out == "1970-01-01T00:00:00Z\tCASE.md\t\(copy)\tthe server treats it as 'case.md'\t\n")
        for name in ["CASE.md", "case.md", copy] {
            #expect(await world.run("conflicts", "show", name) == .success, "\(world.err)")
            #expect(world.out == "--- case.md\n+++ \(copy)\n@@ -1 +1 @@\n-one\n+two\n")
        }
        #expect(await world.run("conflicts", "resolve", "CASE.md", "--keep", "mine") == .success, "\(world.err)")
        #expect(world.out == "case.md now has this machine's content\n")
        #expect(try LocalFile.read(mirror + "/case.md") == Array("two\n".utf8))
        #expect(!LocalFile.exists(mirror + "/CASE.md") && !LocalFile.exists(mirror + "/" + copy))
    }

    @Test("of two folders is shown what only one has and what differs")
    func folders() async throws {
        let copy = "dir (conflict folder)"
        for (folder, text) in [("dir", "one"), (copy, "two")] {
            try LocalFile.makeDirectories(mirror + "/" + folder + "/deep")
            try write("same", folder + "/same.md")
            try write(text, folder + "/deep/\(text).md")
            try write(text, folder + "/differs.md")
        }
        try store.save(ConflictRecord(path: "dir", copy: copy, winner: nil, loser: nil, at: 0))
        #expect(await world.run("conflicts", "show", "dir") == .success, "\(world.err)")
        let changes = world.out.split(separator: "\n").filter { "+-".contains($0.first ?? " ") }
        #expect(
            changes.map { $0.prefix { $0 != " " } } == [
                "---", "+++", "-deep/one.md", "-differs.md", "+deep/two.md", "+differs.md",
            ])
        #expect(await world.run("conflicts", "resolve", "dir", "--keep", "mine") == .success, "\(world.err)")
        #expect(try LocalFile.read(mirror + "/dir/deep/two.md") == Array("two".utf8))
        #expect(!LocalFile.exists(mirror + "/dir/deep/one.md") && !LocalFile.exists(mirror + "/" + copy))
    }

    @Test("an entry with two conflicts must be told by the copy")
    func twoConflicts() async throws {
        for copy in ["a 1.md", "a 2.md"] {
            try write(copy, copy)
            try store.save(ConflictRecord(path: "a.md", copy: copy, winner: nil, loser: nil, at: 0))
        }
        try write("a", "a.md")
        #expect(await world.run("conflicts", "resolve", "a.md", "--keep", "theirs") == .badData)
        #expect(world.err.contains("'a 1.md', 'a 2.md'"))
        #expect(await world.run("conflicts", "resolve", "a 2.md", "--keep", "theirs") == .success)
        #expect(LocalFile.exists(mirror + "/a 1.md") && !LocalFile.exists(mirror + "/a 2.md"))
    }

    @Test("a conflict whose copy somebody removed is settled, and one that arose elsewhere is listed by its name")
    func settledByHand() async throws {
        let copy = "plan (conflict 1a2b3c4d).md"
        try store.save(ConflictRecord(path: "plan.md", copy: copy, winner: nil, loser: nil, at: 0))
        // Without the mirror's own folder it may be somewhere else, with all its files.
        #expect(await world.run("conflicts", "list") == .success)
        #expect(world.out == "1970-01-01T00:00:00Z\tplan.md\t\(copy)\t\t\n")
        try LocalFile.makeDirectory(mirror + "/.byteclub")
        #expect(await world.run("conflicts", "list") == .success)
        #expect(world.out == "no conflicts\n")
        #expect(await world.run("conflicts", "list", "--all") == .success)
        #expect(world.out == "1970-01-01T00:00:00Z\tplan.md\t\(copy)\tresolved\t\n")
        for (name, text) in [("trip.md", "ours"), ("trip (conflict 5e6f7a8b).md", "others'")] {
            _ = try add(name, disk: text, server: text, synced: text)
            try write(text, name)
        }
        #expect(await world.run("conflicts", "list") == .success)
        #expect(world.out.hasSuffix("\ttrip.md\ttrip (conflict 5e6f7a8b).md\tfrom another machine\t\n"), "\(world.out)")
        let list = world.out
        #expect(await world.run("conflicts") == .success && world.out == list, "the list is what is meant")
        #expect(await world.run("status") == .success)
        #expect(world.out.contains("conflict: trip.md, copy trip (conflict 5e6f7a8b).md"), "\(world.out)")
        #expect(await world.run("conflicts", "resolve", "trip.md", "--keep", "theirs") == .success, "\(world.err)")
        #expect(world.out == "trip.md now has the copy's content\n")
        #expect(try LocalFile.read(mirror + "/trip.md") == Array("others'".utf8))
        #expect(await world.run("conflicts", "list") == .success)
        #expect(world.out == "no conflicts\n")
        try write("others'", "trip (conflict 5e6f7a8b).md")
        #expect(await world.run("conflicts", "resolve", "trip.md", "--keep", "both") == .noInput, "it was settled")
    }

    @Test("status is good to read, whatever there is to tell")
    func fullStatus() async throws {
        let gone = try add("a.md", disk: nil, server: "x", synced: "x")
        _ = try add("b.md", disk: "y", server: "y", synced: "y")
        try store.setAll([HeldDeletionRecord(item: gone, side: .remote, path: "a.md", since: 0)])
        try store.save(ConflictRecord(path: "p.md", copy: "p (conflict 1).md", winner: nil, loser: nil, at: 0))
        try write("p", "p (conflict 1).md")
        for number in 10..<35 {
            try store.setProblem(
                ProblemRecord(path: "\(number)", item: nil, message: "a pipe is not synced", isFromScan: true),
                path: "\(number)")
        }
        try store.setMeta(.pausedUntil, "99999999999")
        #expect(await world.run("status") == .success, "\(world.err)")
        try Golden.check(world.out.replacing(mirror, with: "/home/ada/club"), "status.txt")
    }

    @Test("status tells of a pause, of what is in the way and of slow watching")
    func status() async throws {
        try store.setMeta(.pausedUntil, "forever")
        try store.save(ObstacleRecord(since: 60, message: "the disk is full"))
        try store.setMeta(.watching, "too few watches")
        #expect(await world.run("status") == .success)
        #expect(
            world.out.hasSuffix(
                "paused; 'byteclub sync resume' resumes it\nwaiting: no known changes; the server is checked when the "
                    + "sync resumes\nblocked: the disk is full, since 1970-01-01 00:01\nwatching: too few watches\n"
            ))
    }
}
