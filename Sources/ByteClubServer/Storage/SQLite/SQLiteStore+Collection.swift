import ByteClubCore
import ByteClubFiles
import FoundationEssentials
import GRDB
import Glibc
import Logging

extension SQLiteStore {
    /// The most contents that one transaction removes.
    private static let collectionBatch = 200

    /// How many times it lets the index catch up before it leaves collecting to a later time.
    private static let indexSteps = 50

    /// Removes the contents that no version refers to, small ones and blobs; nothing while a backup or a verification
    /// runs, and while the search index is far behind.
    ///
    /// References are not counted as contents come and go: the journal is read once instead, which costs writers
    /// nothing and cannot be wrong after a crash. Removing happens in the writer's turn, after a look at what the
    /// journal got meanwhile, so that no write can begin to use a content that is just going.
    func collectContents() async throws -> Int? {
        // A text that leaves the index must still be there; a full or failing disk cannot wait for that.
        do {
            var steps = 0
            while try await indexTexts() == nil {
                steps += 1
                if steps == Self.indexSteps { return nil }
            }
            try await forgetDeletedTexts()
        } catch let error as StorageError {
            logger.warning("collecting contents although the search index is behind: \(error.message)")
        }
        let lock = try Self.contentsLock(directory)
        guard try lock.lock() else { return nil }
        let use = try await query { try ContentUse(in: $0) }
        let removed = try await collectRows(use) + collectBlobs(use)
        withExtendedLifetime(lock) {}
        return removed
    }

    /// The file whose lock, while shared, keeps contents from being removed; it belongs to the directory's owner,
    /// whichever process makes it.
    static func contentsLock(_ directory: String, flags: Int32 = O_RDWR) throws -> Descriptor {
        let lock = try Descriptor(path: contentsLockPath(directory), flags: flags | O_CREAT)
        lock.give(toOwnerOf: directory)
        return lock
    }

    /// Waits for a share of that lock, and has it as long as the descriptor lives; nil in a directory that cannot be
    /// written and has no such file, where nothing can be removed.
    static func shareContents(_ directory: String) throws -> Descriptor? {
        if !Directory.holds(contentsLockPath(directory)), !Directory.isWritable(directory) { return nil }
        let lock = try contentsLock(directory, flags: O_RDONLY)
        _ = try lock.lock(LOCK_SH)
        return lock
    }

    private static func contentsLockPath(_ directory: String) -> String { directory + "/contents.lock" }

    private func collectRows(_ use: ContentUse) async throws -> Int {
        var count = 0
        var last: [UInt8]? = []
        while let after = last {
            let page = try await query { database in
                try database.rows("SELECT hash FROM content WHERE hash > ? ORDER BY hash LIMIT 5000", [Data(after)]) {
                    $0.bytes(0) ?? []
                }
            }
            last = page.last
            count += try await remove(page.filter { !use.contains($0) }, use) { hash, transaction in
                try transaction.execute("DELETE FROM content WHERE hash = ?", [Data(hash)])
                try transaction.execute("DELETE FROM caption_view WHERE hash = ?", [Data(hash)])
            }
        }
        return count
    }

    private func collectBlobs(_ use: ContentUse) async throws -> Int {
        var count = 0
        let blobs = blobs
        for byte in UInt8.min...UInt8.max {
            let unused = try await blobs.contents(beginning: byte).map(\.bytes).filter { !use.contains($0) }
            count += try await remove(unused, use) { hash, _ in
                if let hash = ContentHash(bytes: hash) { blobs.remove(hash) }
            }
        }
        return count
    }

    private func remove(
        _ hashes: [[UInt8]], _ use: ContentUse,
        _ body: @escaping @Sendable ([UInt8], WriteTransaction) throws -> Void
    ) async throws -> Int {
        var count = 0
        for start in stride(from: 0, to: hashes.count, by: Self.collectionBatch) {
            let batch = Array(hashes[start..<min(start + Self.collectionBatch, hashes.count)])
            count += try await writer.perform { transaction in
                let unused = try use.stillUnused(batch, in: transaction.database)
                for hash in unused {
                    try body(hash, transaction)
                    try transaction.execute("DELETE FROM media_info WHERE hash = ?", [Data(hash)])
                }
                return unused.count
            }
        }
        return count
    }
}

/// Which contents the journal refers to, in eight bytes each.
///
/// Two contents whose hashes begin alike count as one, so an unused content may count as used, never the reverse.
struct ContentUse {
    /// The last change that was looked at.
    let revision: Int64
    private var prefixes: Set<UInt64>

    /// Looks through the whole journal.
    init(in database: Database) throws {
        revision = try SQLiteFolderState.lastRevision(in: database)
        prefixes = []
        try database.forEachRow("SELECT hash FROM version WHERE hash IS NOT NULL") { row in
            if let hash = row.bytes(0) { prefixes.insert(Self.prefix(hash)) }
        }
    }

    /// Whether a content may be in use.
    func contains(_ hash: [UInt8]) -> Bool { prefixes.contains(Self.prefix(hash)) }

    /// The contents, of these, that no later change has begun to use.
    func stillUnused(_ hashes: [[UInt8]], in database: Database) throws -> [[UInt8]] {
        let used = Set(
            try database.rows("SELECT hash FROM version WHERE revision > ? AND hash IS NOT NULL", [revision]) {
                $0.bytes(0) ?? []
            })
        return hashes.filter { !used.contains($0) }
    }

    /// The eight bytes that stand for a hash.
    static func prefix(_ hash: [UInt8]) -> UInt64 {
        hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
