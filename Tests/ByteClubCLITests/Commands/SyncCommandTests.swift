import ByteClubCore
import ByteClubRemotes
import FoundationEssentials
import Glibc
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct SyncCommandTests {
    @Test("sync --once makes the mirror, says what it did, and ends with 0; then there is nothing to do")
    func once() async throws {
        let world = try World()
        try await world.put("hello", "/byteclub/trip.md")
        let mirror = world.home.path + "/club"
        #expect(await world.run("sync", mirror, "--once") == .success, "\(world.err)")
        #expect(world.out.contains("downloaded trip.md\n"))
        #expect(world.err.contains("in sync: 1 downloaded"))
        #expect(try LocalFile.read(mirror + "/trip.md") == Array("hello".utf8))
        #expect(await world.run("sync", "--once") == .success, "\(world.err)")
        #expect(world.out.isEmpty)
        #expect(await world.run("status") == .success)
        #expect(world.out.contains(mirror) && world.out.contains("1 file in 0 folders, "))
    }

    @Test("JSON is one object a line, the last a summary")
    func json() async throws {
        let world = try World()
        try await world.put("hello", "/byteclub/trip.md")
        #expect(await world.run("sync", world.home.path + "/club", "--once", "--json") == .success)
        let events = try world.out.split(separator: "\n").map {
            try JSONDecoder().decode(SyncEvent.self, from: Data($0.utf8))
        }
        #expect(events.last?.event == .summary)
        #expect(events.count { $0.event == .summary } == 1)
        #expect(world.out.split(separator: "\n").allSatisfy { $0.contains(#""time":"2"#) }, "\(world.out)")
        #expect(events.contains { $0.event == .download && $0.path == "trip.md" })
    }

    @Test("progress as JSON ends with one summary, also when the mirror is not in sync yet")
    func progressSummary() async throws {
        let world = try World()
        let mirror = world.home.path + "/club"
        #expect(await world.run("sync", mirror, "--once", "--progress", "json") == .success)
        #expect(world.err.ranges(of: #""event":"summary""#).count == 1, "\(world.err)")
        try LocalFile.replace(mirror + "/a.md", with: [1], mode: 0o644)
        world.server.fault = { call throws(RemoteError) in
            if call.kind == .apply { throw RemoteError(.forbidden, "not here") }
        }
        #expect(await world.run("sync", mirror, "--once", "--progress", "json") != .success)
        #expect(world.err.ranges(of: #""event":"summary""#).count == 1, "\(world.err)")
    }

    @Test("a dry run changes nothing")
    func dryRun() async throws {
        let world = try World()
        try await world.put("hello", "/byteclub/trip.md")
        let mirror = world.home.path + "/club"
        try LocalFile.makeDirectory(mirror)
        #expect(await world.run("sync", mirror, "--once", "--dry-run") == .success, "\(world.err)")
        #expect(
            world.out == "would download trip.md\n",
            "\(world.out)")
        #expect(!LocalFile.exists(mirror + "/trip.md"))
        #expect(await world.run("sync", mirror, "--once", "--dry-run", "--json") == .success)
        #expect(world.out.hasSuffix(#"{"event":"summary","planned":1}"# + "\n"))
    }

    @Test("what is never synced is noted and fails no sync")
    func neverSynced() async throws {
        let world = try World()
        let mirror = world.home.path + "/club"
        try LocalFile.makeDirectory(mirror)
        unsafe symlink("a.md", mirror + "/link.md")
        for _ in 0..<2 {
            #expect(await world.run("sync", mirror, "--once") == .success, "\(world.err)")
            #expect(
                world.err == "byteclub: link.md: a symbolic link is not synced\nbyteclub: in sync: 1 skipped\n")
        }
        #expect(await world.run("status") == .success)
        #expect(world.out.contains("last synced") && world.out.contains("problem: link.md: "), "\(world.out)")
    }

    @Test("changes that the role does not allow end with 77, and long lists with a count")
    func viewer() async throws {
        let world = try World()
        let mirror = world.home.path + "/club"
        #expect(await world.run("sync", mirror, "--once") == .success)
        for number in 100..<150 { try LocalFile.replace(mirror + "/\(number).md", with: [1], mode: 0o644) }
        world.server.fault = { call throws(RemoteError) in
            guard call.kind == .apply else { return }
            var error = RemoteError(.forbidden, "your role here is viewer")
            error.isOfRole = true
            throw error
        }
        #expect(await world.run("sync", mirror, "--once") == .notAuthorised)
        let lines = world.err.split(separator: "\n")
        let refusal = ": your role here is viewer, or revert it with 'byteclub sync revert'"
        #expect(lines.count { $0.hasSuffix(".md" + refusal) } == 1, "\(world.err)")
        #expect(
            lines.suffix(2) == [
                "byteclub: and 49 more\(refusal)",
                "byteclub: not in sync yet: 50 skipped",
            ])
        #expect(await world.run("sync", mirror, "--once", "--json") == .notAuthorised)
        #expect(world.out.split(separator: "\n").count == 51)
    }

    @Test("a dry run tells held deletions as held, and of many the first twenty with a count")
    func heldInDryRun() async throws {
        let world = try World()
        let mirror = world.home.path + "/club"
        for number in 100..<140 { try await world.put("x", "/byteclub/\(number).md") }
        #expect(await world.run("sync", mirror, "--once") == .success)
        for number in 100..<130 { TemporaryDirectory.remove(mirror + "/\(number).md") }
        try LocalFile.replace(mirror + "/139.md", with: [1], mode: 0o644)
        #expect(await world.run("sync", mirror, "--once", "--dry-run") == .success)
        let lines = world.out.split(separator: "\n")
        #expect(lines.first == "would upload 139.md" && lines.last == "and 10 more; --json lists all")
        #expect(lines.count { $0.hasPrefix("would hold the removal of 1") } == 20 && lines.count == 22)
        #expect(world.err == "byteclub: 1 change to make, 30 deletions to hold\n")
        #expect(await world.run("sync", mirror, "--once", "--dry-run", "--json") == .success)
        #expect(world.out.hasSuffix(#"{"event":"summary","held":30,"planned":1}"# + "\n"), "\(world.out)")
        #expect(await world.run("sync", mirror, "--once", "--dry-run", "--force-deletes") == .success)
        #expect(world.out.split(separator: "\n").count == 31 && !world.out.contains("would hold"))
        #expect(await world.run("sync", mirror, "--once") == .tryAgain)
        let told = world.err.split(separator: "\n")
        #expect(told.count == 22 && told.dropLast().last?.contains("and 10 more are held; ") == true, "\(world.err)")
        #expect(await world.run("sync", "deletes", "restore") == .success)
        #expect(world.out.split(separator: "\n").count == 21 && world.out.contains("and 10 more; --json"))
    }

    @Test("what rules leave out is told by sync, status and doctor, and never passes for nothing to do")
    func ignored() async throws {
        let world = try World()
        for name in ["a.md", "b.tmp", "c.tmp"] { try await world.put(name, "/byteclub/" + name) }
        let mirror = world.home.path + "/club"
        try LocalFile.makeDirectory(mirror)
        try LocalFile.replace(mirror + "/.byteclubignore", with: Array("*.tmp\n".utf8), mode: 0o644)
        try LocalFile.replace(mirror + "/mine.tmp", with: [1], mode: 0o644)
        #expect(await world.run("sync", mirror, "--once") == .success, "\(world.err)")
        #expect(await world.run("sync", mirror, "--once") == .success)
        let told = "ignore rules exclude 1 entry here and 2 entries on the server"
        #expect(world.err == "byteclub: in sync: nothing to do; \(told)\n")
        #expect(await world.run("sync", mirror, "--once", "--json") == .success)
        #expect(world.out.contains(#""ignored":{"disk":1,"server":2}"#), "\(world.out)")
        #expect(await world.run("status") == .success && world.out.contains("\n\(told); see .byteclubignore\n"))
        #expect(await world.run("status", "--json") == .success && world.out.contains(#""server" : 2"#))
        _ = await world.run("doctor")
        #expect(world.out.contains(told), "\(world.out)")
        _ = await world.run("doctor", "--json")
        #expect(world.out.contains(told))
    }

    @Test("rules of another member that would leave out the mirror are told, held, and decided about by a person")
    func heldRules() async throws {
        let world = try World()
        for name in ["a.md", "b.md", "c.md"] { try await world.put(name, "/byteclub/" + name) }
        let mirror = world.home.path + "/club"
        #expect(await world.run("sync", mirror, "--once") == .success)
        try await world.put("*\n", "/byteclub/.byteclubignore")
        #expect(await world.run("sync", mirror, "--once") == .success)
        #expect(await world.run("sync", mirror, "--once") == .tryAgain)
        #expect(world.err.contains("not in sync yet: new ignore rules held"), "\(world.err)")
        #expect(world.err.contains(".byteclubignore: its new rules would exclude 3 of 3 synced entries"))
        #expect(await world.run("status") == .success)
        #expect(world.out.contains("held: .byteclubignore: its new rules would exclude 3 of 3 synced entries"))
        #expect(world.out.contains("byteclub sync deletes approve"))
        _ = await world.run("doctor")
        #expect(world.out.contains("would exclude 3 of 3") && world.out.contains("sync deletes review"))
        #expect(await world.run("sync", "deletes", "review") == .success)
        #expect(world.out.contains("its new rules would exclude 3 of 3 synced entries, held since"))
        #expect(await world.run("sync", "deletes", "restore") == .success)
        #expect(world.out == ".byteclubignore: its previous rules are restored\n")
        #expect(await world.run("sync", mirror, "--once") == .success, "\(world.err)")
        #expect(try await world.text("/byteclub/.byteclubignore") == nil)
        try await world.put("*.md\n", "/byteclub/.byteclubignore")
        #expect(await world.run("sync", mirror, "--once") == .success)
        #expect(await world.run("sync", mirror, "--once") == .tryAgain)
        #expect(await world.run("sync", "deletes", "approve") == .success)
        #expect(world.out.contains("its new rules will exclude 3 of 3 synced entries"))
        #expect(await world.run("sync", mirror, "--once") == .success, "\(world.err)")
        #expect(world.err.contains("; ignore rules exclude 3 entries here and 3 entries on the server"))
    }

    @Test("a mirror stays with the folder that it holds, and refuses another one")
    func folder() async throws {
        let world = try World()
        try await world.put("trip", "/trips/trip.md")
        try await world.put("hello", "/byteclub/hello.md")
        let mirror = world.home.path + "/club"
        #expect(await world.run("sync", mirror, "--once", "--folder", "/trips") == .success, "\(world.err)")
        try await world.put("more", "/trips/more.md")
        #expect(await world.run("sync", mirror, "--once") == .success, "\(world.err)")
        #expect(world.out.contains("downloaded more.md\n"))
        #expect(await world.run("sync", mirror, "--once", "--folder", "/Trips") == .success, "\(world.err)")
        #expect(await world.run("sync", mirror, "--once", "--folder", "/byteclub") == .configuration)
        #expect(world.err.contains("syncs '/trips', not '/byteclub'"))
        #expect(await world.run("sync", "verify", "--folder", "/byteclub") == .configuration)
        #expect(!LocalFile.exists(mirror + "/hello.md"))
        #expect(try await world.text("/byteclub/hello.md") == "hello")
    }

    @Test("a mirror that is gone is code 66, and the server loses nothing")
    func gone() async throws {
        let world = try World()
        try await world.put("hello", "/byteclub/trip.md")
        let mirror = world.home.path + "/club"
        #expect(await world.run("sync", mirror, "--once") == .success)
        TemporaryDirectory.remove(mirror)
        #expect(await world.run("sync", mirror, "--once") == .noInput)
        #expect(world.err.contains("is gone"))
        #expect(await world.run("sync", "--once", "--json") == .noInput)
        #expect(world.out.contains(#""event":"summary""#))
        #expect(try await world.text("/byteclub/trip.md") == "hello")
        #expect(await world.run("status") == .noInput)
    }

    @Test("without a directory, now or before, the directory is asked for")
    func unnamed() async throws {
        let world = try World()
        #expect(await world.run("sync", "--once") == .usage)
        #expect(await world.run("status") == .usage)
    }

    @Test("a continuous sync ends when it is interrupted, with all in order")
    func continuous() async throws {
        let world = try World()
        try await world.put("hello", "/byteclub/trip.md")
        let mirror = world.home.path + "/club"
        let press = Press()
        var context = world.context(interrupts: press.interrupts)
        let output = context.output
        context.output = Output { bytes in
            try output.write(bytes)
            if String(decoding: bytes, as: UTF8.self).contains("trip.md") { press.now(.interrupted) }
        }
        #expect(await world.run("sync", mirror, in: context) == .interrupted)
        #expect(try LocalFile.read(mirror + "/trip.md") == Array("hello".utf8))
        #expect(await world.run("sync", mirror, "--once") == .success, "\(world.err)")
    }

    @Test("each kind of event has its line")
    func lines() throws {
        var summary = SyncSummary()
        summary.uploaded = 3
        summary.conflicts = 1
        summary.isComplete = true
        let events = SyncEvent.Kind.allCases.map { kind in
            SyncEvent(
                kind, path: kind == .summary ? nil : "a/b.md", bytes: 5, copy: "a/b (ada, conflict 2026-11-22 1403).md",
                message: kind == .problem ? "cannot be read" : nil, until: kind == .paused ? 120 : nil,
                summary: kind == .summary ? summary : nil)
        }
        let style = TextStyle(calendar: { CalendarTime.utc($0) })
        let lines = events.map { "\($0.event.rawValue): \(EventLine.text($0, style) ?? "-")" }
        try Golden.check(lines.joined(separator: "\n") + "\n", "sync-events.txt")
    }
}
