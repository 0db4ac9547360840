import ByteClubCore
import CLinux
import Glibc
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

@Suite struct SQLiteTreeStoreTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/mirror.sqlite" }

    init() throws { directory = try TemporaryDirectory() }

    @Test("SQLite keeps trees as every store does", arguments: StoreConformance.all)
    func conforms(claim: StoreConformance) throws {
        let store = try SQLiteTreeStore(path: path)
        try claim.check(store)
        try store.close()
    }

    @Test("SQLite does what the plainest model does, whatever the sequence", arguments: 1...40)
    func random(seed: UInt64) throws {
        let path = path
        var run = StoreRun(seed: seed, on: try SQLiteTreeStore(path: path)) { store in
            try store.close()
            return try SQLiteTreeStore(path: path)
        }
        try run.run(steps: 150)
    }

    @Test("a transaction that fails when it begins leaves the database to others")
    func failedBegin() throws {
        let store = try SQLiteTreeStore(path: path)
        try store.setMeta(.cursor, "1")
        // What is asked right after the transaction is open fails from now on.
        try store.prepared("PRAGMA data_version").finalize()
        #expect(throws: SyncError.self) { try store.setMeta(.cursor, "2") }
        #expect(!store.isInTransaction)
        let other = try #require(try SQLiteTreeStore.existing(path: path, .writingExisting))
        try other.setMeta(.cursor, "3")
        #expect(try other.meta(.cursor) == "3")
    }

    @Test("a store of many files is opened, filled and read")
    func rates() throws {
        let files = unsafe getenv("BYTECLUB_STORE_FILES").flatMap { unsafe Int(String(cString: $0)) } ?? 10_000
        let store = try SQLiteTreeStore(path: path)
        let before = residentKiB()
        print("\(files) files:", try StoreRates.measure(store, files: files))
        print("\(residentKiB() - before) KiB more in memory")
        try store.close()
        let clock = ContinuousClock()
        var opened: SQLiteTreeStore?
        let opening = try clock.measure { opened = try SQLiteTreeStore(path: path) }
        let again = try #require(opened)
        var count = 0
        let counting = try clock.measure { count = try again.syncedCount() }
        #expect(count == files)
        var status = stat()
        _ = unsafe stat(path, &status)
        print("opened in \(opening), counted in \(counting), \(Int(status.st_size) / files) bytes a file")
        try again.close()
    }

    private func residentKiB() -> Int {
        var usage = rusage()
        _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss
    }
}
