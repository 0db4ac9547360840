import ByteClubCore
import Glibc
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// What every disk must do, whatever is under it.
@Suite struct DiskConformanceTests {
    /// A disk to test.
    enum Subject: String, CaseIterable, Sendable {
        case simulated, simulatedWithoutExchange, memory, drive, driveWithoutRenames, driveWithoutHandles
    }

    /// A disk with an empty root.
    struct Scene {
        let disk: any Disk
        let root: any DiskFolder
        /// What the real file system was found unable to do; nil for a simulated one.
        var limits: LinuxDisk.Limits? { (root as? LinuxFolder)?.limits.known }
        private let directory: TemporaryDirectory?

        init(_ subject: Subject) throws {
            switch subject {
            case .simulated, .simulatedWithoutExchange:
                let simulated = SimulatedDisk()
                simulated.canExchange = subject == .simulated
                (disk, directory) = (simulated, nil)
            case .memory, .drive, .driveWithoutRenames, .driveWithoutHandles:
                let made = try TemporaryDirectory(in: subject == .memory ? "/dev/shm" : nil)
                let limits: LinuxDisk.Limits =
                    switch subject {
                    case .driveWithoutRenames: [.noReplace, .exchange]
                    case .driveWithoutHandles: .handles
                    default: []
                    }
                (disk, directory) = (LinuxDisk(made.path, limits: limits), made)
            }
            root = try disk.openRoot()
        }

        func write(_ name: String, _ text: String, in folder: (any DiskFolder)? = nil) throws {
            try (folder ?? root).create(name).write(Array(text.utf8))
        }

        func text(_ name: String, in folder: (any DiskFolder)? = nil) throws -> String {
            let file = try (folder ?? root).open(name)
            var buffer = [UInt8](repeating: 0, count: 100)
            let count = try file.read(into: &buffer, at: 0)
            return String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }

    private func code(_ body: () throws -> Void) -> Int32? {
        do {
            try body()
            return nil
        } catch let error as FileError {
            return error.code
        } catch {
            return -1
        }
    }

    @Test("a listing tells names, kinds and looks as single questions do", arguments: Subject.allCases)
    func listing(subject: Subject) throws {
        let scene = try Scene(subject)
        try scene.write("x", "12345")
        try scene.root.makeFolder("d")
        let entries = try scene.root.list().sorted { $0.name < $1.name }
        #expect(entries.map(\.name) == ["d", "x"])
        #expect(entries.map(\.kind) == [.folder, .file])
        #expect(entries.last?.stat.fingerprint.size == 5)
        for entry in entries {
            let single = try #require(try scene.root.entry(entry.name))
            #expect(single.stat.handle == entry.stat.handle && single.kind == entry.kind)
            #expect(single.stat.fingerprint == entry.stat.fingerprint)
        }
        #expect(try scene.root.entry("y") == nil)
        #expect(try scene.root.folder("d").stat().handle == entries.first?.stat.handle)
        #expect(try scene.root.open("x").stat().handle == entries.last?.stat.handle)
    }

    @Test(
        "a listing's fingerprint stays as long as nothing changes, and changes with everything else",
        arguments: Subject.allCases)
    func fingerprint(subject: Subject) throws {
        let scene = try Scene(subject)
        var seen: Set<ListingFingerprint> = []
        func observed() throws -> ListingFingerprint {
            let fingerprint = try scene.root.listingFingerprint()
            let (_, listed) = try scene.root.fingerprintedList()
            #expect(fingerprint.high == listed.high && fingerprint.low == listed.low)
            return ListingFingerprint(high: fingerprint.high, low: fingerprint.low, isRacy: false)
        }
        #expect(seen.insert(try observed()).inserted)
        try scene.write("x", "1")
        #expect(seen.insert(try observed()).inserted)
        try scene.root.makeFolder("d")
        #expect(seen.insert(try observed()).inserted)
        try scene.root.rename("x", to: scene.root, "y", .withoutReplacing)
        #expect(seen.insert(try observed()).inserted)
        try scene.root.removeFile("y")
        try scene.write("y", "12")
        #expect(seen.insert(try observed()).inserted)
        let before = try observed()
        try scene.write("inside", "1", in: scene.root.folder("d"))
        #expect(try observed() == before)
        let isRacy = try (0..<20).contains { number in
            try scene.root.makeFolder("young \(number)")
            return try scene.root.listingFingerprint().isRacy
        }
        #expect(isRacy)
    }

    @Test("a handle outlives renames and is never used again", arguments: Subject.allCases)
    func handles(subject: Subject) throws {
        let scene = try Scene(subject)
        try scene.root.makeFolder("d")
        var seen: Set<FileHandle> = []
        for _ in 0..<50 {
            try scene.write("x", "1")
            let handle = try #require(try scene.root.entry("x")).stat.handle
            // Without handles, the time of birth stands in, which is as fine as the system's clock.
            if subject != .driveWithoutHandles { #expect(seen.insert(handle).inserted) }
            try scene.root.rename("x", to: scene.root.folder("d"), "y", .withoutReplacing)
            #expect(try scene.root.folder("d").entry("y")?.stat.handle == handle)
            try scene.root.folder("d").removeFile("y")
        }
    }

    @Test("a rename refuses a name that is taken", arguments: Subject.allCases)
    func noReplace(subject: Subject) throws {
        let scene = try Scene(subject)
        try scene.write("a", "a")
        try scene.write("b", "b")
        try scene.root.makeFolder("d")
        #expect(code { try scene.root.rename("a", to: scene.root, "b", .withoutReplacing) } == EEXIST)
        #expect(code { try scene.root.rename("d", to: scene.root, "b", .withoutReplacing) } == EEXIST)
        #expect(code { try scene.root.rename("a", to: scene.root, "d", .withoutReplacing) } == EEXIST)
        #expect(code { try scene.root.rename("none", to: scene.root, "e", .withoutReplacing) } == ENOENT)
        #expect(try scene.text("a") == "a" && scene.text("b") == "b")
        try scene.root.rename("a", to: scene.root.folder("d"), "b", .withoutReplacing)
        #expect(try scene.text("b", in: scene.root.folder("d")) == "a")
        #expect(try scene.root.entry("a") == nil)
    }

    @Test("two entries change places, also across folders and kinds", arguments: Subject.allCases)
    func exchange(subject: Subject) throws {
        let scene = try Scene(subject)
        try scene.write("a", "a")
        try scene.root.makeFolder("d")
        let folder = try scene.root.folder("d")
        try scene.write("b", "b", in: folder)
        try scene.root.rename("a", to: folder, "b", .exchanging)
        #expect(try scene.text("a") == "b" && scene.text("b", in: folder) == "a")
        #expect(try scene.root.list().count == 2 && folder.list().count == 1)
        #expect(code { try scene.root.rename("a", to: folder, "none", .exchanging) } == ENOENT)
        #expect(try scene.text("a") == "b")
        try scene.root.rename("a", to: scene.root, "d", .exchanging)
        #expect(try scene.text("d") == "b")
        #expect(try scene.root.entry("a")?.kind == .folder)
    }

    @Test("a folder cannot come to lie in itself", arguments: Subject.allCases)
    func intoItself(subject: Subject) throws {
        let scene = try Scene(subject)
        try scene.root.makeFolder("d")
        try scene.root.folder("d").makeFolder("e")
        let inner = try scene.root.folder("d").folder("e")
        #expect(code { try scene.root.rename("d", to: inner, "d", .withoutReplacing) } == EINVAL)
        #expect(try inner.list().isEmpty)
        if subject == .drive || subject == .memory { #expect(scene.limits?.isEmpty == true) }
    }

    @Test("an open folder stays the same when it is moved", arguments: Subject.allCases)
    func openFolder(subject: Subject) throws {
        let scene = try Scene(subject)
        try scene.root.makeFolder("d")
        try scene.root.makeFolder("e")
        let folder = try scene.root.folder("d")
        try scene.root.rename("d", to: scene.root.folder("e"), "f", .withoutReplacing)
        try scene.write("x", "1", in: folder)
        #expect(try scene.text("x", in: scene.root.folder("e").folder("f")) == "1")
    }

    @Test("errors are the system's", arguments: Subject.allCases)
    func errors(subject: Subject) throws {
        let scene = try Scene(subject)
        try scene.write("x", "1")
        try scene.root.makeFolder("d")
        try scene.write("y", "1", in: scene.root.folder("d"))
        #expect(code { _ = try scene.root.create("x") } == EEXIST)
        #expect(code { try scene.root.makeFolder("x") } == EEXIST)
        #expect(code { _ = try scene.root.open("none") } == ENOENT)
        #expect(code { _ = try scene.root.open("d") } != nil)
        #expect(code { _ = try scene.root.folder("x") } == ENOTDIR)
        #expect(code { _ = try scene.root.folder("none") } == ENOENT)
        #expect(code { try scene.root.removeFolder("d") } == ENOTEMPTY)
        #expect(code { try scene.root.removeFile("none") } == ENOENT)
        #expect(code { try scene.root.removeFile("d") } == EISDIR)
    }

    @Test("a file's bytes come back, from any offset", arguments: Subject.allCases)
    func contents(subject: Subject) throws {
        let scene = try Scene(subject)
        let file = try scene.root.create("x")
        try file.write(Array("hello ".utf8))
        try file.write(Array("world".utf8))
        try file.sync()
        try scene.root.sync()
        try scene.root.syncFileSystem()
        var buffer = [UInt8](repeating: 0, count: 4)
        #expect(try file.read(into: &buffer, at: 6) == 4 && buffer == Array("worl".utf8))
        #expect(try file.read(into: &buffer, at: 10) == 1 && buffer.first == UInt8(ascii: "d"))
        #expect(try file.read(into: &buffer, at: 11) == 0)
        #expect(try scene.root.room().free > 0)
        #expect(try !scene.root.fileSystem().isEmpty)
        #expect(try scene.root.fileSystem() == scene.disk.openRoot().fileSystem())
    }

    @Test(
        "a file takes any date from 1969 to 2100, to the nanosecond, and its change is seen",
        arguments: Subject.allCases)
    func dates(subject: Subject) throws {
        let scene = try Scene(subject)
        try scene.write("x", "12345")
        let century: Int64 = 4_102_444_800_000_000_000
        for time in [-1, 0, 1, 999_999_999, 1_525_478_400_123_456_789, century - 1, century] {
            let file = try scene.root.open("x")
            let before = try file.stat()
            try file.setModified(FileTime(nanoseconds: time))
            let after = try #require(try scene.root.entry("x")).stat
            #expect(after.fingerprint.modified == time && after.handle == before.handle)
            #expect(after.fingerprint.changed >= before.fingerprint.changed)
        }
        #expect(try scene.text("x") == "12345")
    }

    @Test("a file becomes executable and is no more, whatever its date", arguments: Subject.allCases)
    func executable(subject: Subject) throws {
        let scene = try Scene(subject)
        try scene.root.learnLimits(with: "probe")
        #expect(try scene.root.list().isEmpty && scene.limits?.contains(.executable) != true)
        try scene.write("x", "12345")
        let file = try scene.root.open("x")
        try file.setModified(FileTime(nanoseconds: 7))
        #expect(try file.stat().isExecutable == false && !file.setExecutable(false))
        for isExecutable in [true, false] {
            #expect(try file.setExecutable(isExecutable))
            #expect(try !file.setExecutable(isExecutable))
            let stat = try #require(try scene.root.entry("x")).stat
            #expect(stat.isExecutable == isExecutable && stat.fingerprint.modified == 7)
        }
        try scene.root.makeFolder("d")
        #expect(try scene.root.entry("d")?.stat.isExecutable == nil)
    }

    @Test("who writes a file is seen by those who read it", arguments: [Subject.memory, .drive])
    func lease(subject: Subject) throws {
        let scene = try Scene(subject)
        var writer: (any DiskFile)? = try scene.root.create("x")
        try writer?.write([1])
        #expect(try scene.root.open("x").isBeingWritten)
        writer = nil
        #expect(try !scene.root.open("x").isBeingWritten)
    }
}
