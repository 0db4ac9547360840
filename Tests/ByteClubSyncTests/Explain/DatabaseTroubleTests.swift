import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync

@Suite struct DatabaseTroubleTests {
    private let mirror: MirrorFixture
    private var path: String { mirror.configuration.databasePath }

    init() throws { mirror = try MirrorFixture() }

    /// What asking why says instead of an answer.
    private func refusal() -> SyncError? {
        do throws(SyncError) {
            _ = try SyncEngine.explain("a.md", of: mirror.configuration)
            return nil
        } catch {
            return error
        }
    }

    private func overwrite(_ bytes: [UInt8], at offset: Int) throws {
        let file = try FileDescriptor.open(path, O_WRONLY)
        #expect(lseek(file.number, offset, SEEK_SET) == offset)
        try file.write(bytes)
    }

    @Test("a database that is none any more is named in one line, and left as it is")
    func damaged() throws {
        try mirror.add("a.md", disk: "x")
        try mirror.store.close()
        try overwrite(Array(repeating: 0x55, count: 4_096), at: 0)
        let error = try #require(refusal())
        #expect(error.code == .database && error.message.contains("is damaged") && !error.message.contains("\n"))
        #expect(unsafe access(path, F_OK) == 0)
    }

    @Test("a command that asks or changes a damaged database says so, and not that there is none")
    func damagedForAll() throws {
        try mirror.store.close()
        try overwrite(Array(repeating: 0x55, count: 4_096), at: 0)
        let asks: [() throws -> Void] = [
            { _ = try SyncEngine.status(of: mirror.configuration) },
            { _ = try SyncEngine.log(of: mirror.configuration, below: nil, after: nil, limit: 1) },
            { _ = try SyncEngine.conflicts(of: mirror.configuration, all: true) },
            { try SyncEngine.pause(mirror.configuration, for: nil) },
        ]
        for ask in asks {
            let error = #expect(throws: SyncError.self) { try ask() }
            #expect(error?.code == .database && error?.message.contains("is damaged") == true)
        }
    }

    @Test("a database that an engine is just making is none yet")
    func beingMade() throws {
        try mirror.store.close()
        for suffix in ["", "-wal", "-shm"] { unsafe unlink(path + suffix) }
        _ = try FileDescriptor.open(path, O_RDWR | O_CREAT, mode: 0o600)
        #expect(try !SyncEngine.status(of: mirror.configuration).isKnown)
        let connection = try SQLiteConnection(path, .writing)
        try connection.run("PRAGMA journal_mode = WAL")
        #expect(try !SyncEngine.status(of: mirror.configuration).isKnown)
        try DatabaseFile.makeSchema(connection)
        #expect(try SyncEngine.status(of: mirror.configuration).isKnown)
    }

    @Test("whatever bytes of a database are wrong, asking why answers or says that it is damaged", arguments: 1...40)
    func torn(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try mirror.addFolder("F")
        for number in 0..<200 { try mirror.add("\(number).md", in: folder.id, disk: "x", server: "y", synced: "z") }
        try mirror.add("a.md", disk: "x")
        try mirror.store.close()
        let size = Int(try FileDescriptor.open(path, O_RDONLY).status().size)
        for _ in 0..<40 {
            let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            try overwrite(bytes, at: Int.random(in: 4_096..<size - 16, using: &random))
        }
        if let error = refusal() { #expect(error.code == .database && !error.message.contains("\n"), "seed \(seed)") }
    }

    @Test("a database that cannot be read is named in one line")
    func unreadable() throws {
        try mirror.store.close()
        #expect(unsafe unlink(path) == 0 && mkdir(path, 0o700) == 0)
        let error = try #require(refusal())
        #expect(
            error.code == .io && error.message.contains("cannot be read or written") && !error.message.contains("\n"),
            "\(error)")
    }

    @Test("a database that another program holds for itself is named in one line")
    func held() throws {
        try mirror.store.close()
        let other = try SQLiteConnection(path, .writing)
        try other.run("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE meta SET value = value")
        let error = try #require(refusal())
        #expect(
            error.code == .database && error.message.contains("another program has") && !error.message.contains("\n"))
        try other.close()
    }

    @Test("while an engine has the mirror, asking why is answered from the same database")
    func running() throws {
        try mirror.add("a.md", disk: "x")
        let lock = try #require(try MirrorLock(in: mirror.configuration.stateDirectory))
        let answer = try mirror.store.transaction(durably: false) {
            try mirror.store.setMeta(.lastSync, "5")
            return try SyncEngine.explain("a.md", of: mirror.configuration).first
        }
        #expect(answer?.state == .pending)
        lock.markClean()
    }

    @Test("without a database, a file on disk is one that no sync has seen")
    func missing() throws {
        try mirror.store.close()
        #expect(unsafe unlink(path) == 0)
        try mirror.write("x", to: "a.md")
        let answer = try #require(try SyncEngine.explain("a.md", of: mirror.configuration).first)
        #expect(answer.state == .blocked && answer.next.count == 1)
        #expect(answer.blockers == ["sync is not running; start it with 'byteclub sync'"])
        #expect(try SyncEngine.explain("b.md", of: mirror.configuration).isEmpty)
        #expect(unsafe access(path, F_OK) != 0)
    }

    @Test("what has happened to a mirror since its last sync is told, on a real disk")
    func since() async throws {
        try mirror.store.close()
        for name in ["a.md", "b.md", "c.md"] { try mirror.write("x", to: name) }
        let engine = try SyncEngine(configuration: mirror.configuration, remote: MemoryRemote())
        #expect(try await engine.runOnce { _ in }.isComplete)
        func why(_ path: String) throws -> SyncExplanation? {
            try SyncEngine.explain(path, of: mirror.configuration).first
        }
        #expect(try why("a.md")?.state == .inSync)
        try mirror.write("longer", to: "a.md")
        #expect(unsafe unlink(mirror.configuration.directory + "/b.md") == 0)
        try mirror.write("x", to: "d.md")
        #expect(try why("a.md")?.next == ["scan it again: it has changed on disk since the last scan"])
        #expect(try why("b.md")?.next == ["scan it again: it is gone from the disk since the last scan"])
        #expect(try why("c.md")?.state == .inSync)
        #expect(try why("d.md")?.next == ["scan it: it is on disk, but no sync has seen it yet"])
        #expect(
            unsafe rename(mirror.configuration.directory, mirror.configuration.directory + ".away") == 0)
        let gone = "the mirror's folder is gone or was replaced: is its disk mounted?"
        #expect(try why("c.md")?.state == .blocked && why("c.md")?.blockers.first == gone)
        #expect(try why("a.md")?.next == [] && why("d.md") == nil)
    }
}
