import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubCLI
@testable import ByteClubSync

@Suite struct VerifyCommandTests {
    @Test("verify agrees after a sync, and a file that has changed unseen is a difference and code 65")
    func verify() async throws {
        let world = try World()
        try await world.put("hello", "/byteclub/trip.md")
        try await world.put("peak", "/byteclub/Trips/alps.md")
        let mirror = world.home.path + "/club"
        #expect(await world.run("sync", "verify", mirror) == .noInput)
        #expect(world.err.contains("was never synced"))
        #expect(await world.run("sync", mirror, "--once") == .success, "\(world.err)")
        // A file that was written a moment ago may be written again within the same tick of its clock.
        try await Task.sleep(for: FileFingerprint.racyWindow + .milliseconds(100))
        #expect(await world.run("sync", "--once") == .success, "\(world.err)")
        #expect(await world.run("sync", "verify") == .success, "\(world.err)")
        #expect(world.out == "2 files in 1 folder, 9 bytes: disk, mirror and server agree\n")
        try LocalFile.replace(mirror + "/new.md", with: Array("new".utf8))
        #expect(await world.run("sync", "verify") == .success, "\(world.err)")
        #expect(
            world.out.hasSuffix("not compared: 1 changed or not synced yet; run 'byteclub sync' first\n"),
            "\(world.out)")

        try forgetContent("trip.md", try MirrorPlace(mirror, world.context()).configuration)
        #expect(await world.run("sync", "verify", mirror) == .badData)
        #expect(world.out.contains("trip.md: ") && world.out.contains(" difference"), "\(world.out)")
        #expect(await world.run("sync", "verify", "--json") == .badData)
        let json = world.out
        #expect(json.contains(#""isAgreed" : false"#) && json.contains(#""path" : "trip.md""#), "\(json)")
        #expect(try await world.text("/byteclub/trip.md") == "hello")
    }

    /// Has a mirror take another content for a file's than it has, as when the disk had lost its bytes unseen.
    private func forgetContent(_ name: String, _ configuration: SyncConfiguration) throws {
        let store = try SQLiteTreeStore(path: configuration.databasePath)
        defer { try? store.close() }
        let found = try store.children(of: .root, key: EntryName(name).key, on: .local).first
        var item = try #require(found)
        let other = ContentHasher.hash(Array("other".utf8))
        item.local?.hash = other
        item.remote?.hash = other
        var base = item.synced
        base?.hash = other
        item.setBase(base)
        try store.save(item)
    }

    @Test("what was found is told for people")
    func text() throws {
        var found = SyncVerification()
        (found.files, found.folders, found.bytes, found.unsettled) = (1_234, 1, 5 << 20, 7)
        let style = TextStyle(calendar: { CalendarTime.utc($0) })
        let agreed = Verification("/club", found).text(style)
        found.add(.init(path: "a.md", kind: .missingOnDisk, detail: "it is not on disk"))
        found.add(.init(path: "b\u{1B}.md", kind: .unknownOnServer, detail: "the mirror knows nothing of it"))
        try Golden.check(agreed + "\n--\n" + Verification("/club", found).text(style) + "\n", "verify.txt")
    }

    @Test("on a terminal a line tells how far it is, and goes away")
    func progress() async throws {
        let world = try World()
        try await world.put("hello", "/byteclub/trip.md")
        #expect(await world.run("sync", world.home.path + "/club", "--once") == .success)
        let tty = Terminal(isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: true, columns: { 60 })
        #expect(await world.run("sync", "verify", in: world.context(terminal: tty)) == .success)
        #expect(world.err.contains("comparing") && world.err.hasSuffix(" \r") && !world.err.contains("\n"))
        var asked = world.context()
        asked.statusSignals = StatusSignals { answer in
            answer(.report)
            return {}
        }
        #expect(await world.run("sync", "verify", in: asked) == .success)
        #expect(world.err.contains("byteclub: comparing"), "\(world.err)")
    }
}
