import ByteClubCore
import ByteClubFiles
import GRDB
import Glibc
import Logging

/// A copy of a data directory: its database as it is at one moment, and the contents that this refers to.
///
/// It grows under a name of its own beside the target and gets the target's name when all of it is on disk, so that
/// what has that name is whole.
struct DirectoryCopy {
    private let source: String
    private let target: String
    private let sharing: CopySharing
    private let draft: String

    /// Prepares a copy.
    ///
    /// - Throws: ``StorageError`` `missing` when there is nothing to copy, `exists` when the target has something in
    ///   it.
    init(from source: String, to target: String, sharing: CopySharing = .original) throws {
        guard Directory.fileLength(source + "/" + SQLiteStore.databaseName) != nil else {
            throw StorageError(.missing, "no club in '\(source)'")
        }
        var target = target
        while target.count > 1, target.hasSuffix("/") { target.removeLast() }
        if unsafe access(target, F_OK) == 0 {
            let names = try? Directory.names(in: target)
            if names?.isEmpty != true {
                let what = names == nil ? "is not a readable directory" : "is not empty"
                throw StorageError(.exists, "'\(target)' already exists and \(what)")
            }
        }
        let parent = Directory.parent(of: target)
        guard unsafe access(parent, F_OK) == 0 else {
            throw StorageError(.exists, "no directory '\(parent)' to create '\(target)' in")
        }
        if Directory.holds(target, below: source) {
            throw StorageError(.exists, "'\(target)' is inside the club's data; choose a directory outside it")
        }
        self.source = source
        self.target = target
        self.sharing = sharing
        draft = target + ".part-" + Secret.text(bytes: 4)
    }

    /// Makes the copy; when it fails, nothing of it stays.
    func make() throws -> CopySummary {
        do {
            try Directory.make(draft)
            // As long as this is shared, no content is removed that the database's copy refers to.
            let contents = try SQLiteStore.shareContents(source)
            try copyDatabase()
            let summary = try copyContents()
            try copyCertificate()
            withExtendedLifetime(contents) {}
            try Directory.sync(draft)
            try publish()
            return summary
        } catch {
            Directory.remove(draft)
            throw StorageError.translating(error)
        }
    }

    private func copyDatabase() throws {
        let path = draft + "/" + SQLiteStore.databaseName
        _ = try Descriptor(path: path, flags: O_RDWR | O_CREAT | O_EXCL)
        let original = try SQLiteStore.openToRead(source, readers: 1)
        let copy = try DatabaseQueue(path: path)
        // All pages in one step: in smaller ones a busy server would make it start again and again.
        try original.backup(to: copy)
        try copy.write { database in
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            guard version == Schema.version else {
                throw StorageError(.damaged, "'\(source)' is of version \(version); serve it once with this program")
            }
            // Uploads under way stay with the original.
            try database.execute(sql: "DELETE FROM upload; DELETE FROM upload_block")
            try database.execute(
                sql: "INSERT OR REPLACE INTO meta(name, value) VALUES (?, 1)", arguments: [Schema.Meta.copied])
        }
        try copy.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try copy.close()
        try Descriptor(path: path, flags: O_RDONLY).sync()
    }

    private func copyContents() throws -> CopySummary {
        var summary = CopySummary()
        summary.bytes = Directory.fileLength(draft + "/" + SQLiteStore.databaseName) ?? 0
        let to = try FileBlobStore(directory: draft)
        var folders: Set<String> = []
        let copy = try DatabaseQueue(path: draft + "/" + SQLiteStore.databaseName)
        try copy.read { database in
            try database.forEachRow(
                """
                SELECT hash, max(bytes) FROM version WHERE kind = 0 AND bytes > \(StagedContent.inlineLimit)
                GROUP BY hash
                """
            ) { row in
                guard let hash = row.hash(0) else { return }
                let bytes: Int64 = row[1]
                let folder = to.directory(of: hash)
                if folders.insert(folder).inserted { try Directory.make(folder) }
                let isLinked = try place(String(to.path(of: hash).dropFirst(draft.count)), bytes: bytes)
                summary.contents += 1
                summary.bytes += bytes
                if isLinked {
                    summary.linked += 1
                    summary.sharedBytes += bytes
                }
            }
        }
        try copy.close()
        for folder in folders { try Directory.sync(folder) }
        try Directory.sync(to.root)
        return summary
    }

    /// Brings one content to its place, by its path within a data directory; returns whether it was linked.
    private func place(_ path: String, bytes: Int64) throws -> Bool {
        switch sharing {
        case .nothing:
            try FileCopy.copy(source + path, to: draft + path)
            return false
        case .backup(let earlier)
        where Directory.fileLength(earlier + path) == bytes && Directory.linkNew(earlier + path, to: draft + path) == 0:
            return true
        case .original, .backup:
            return try FileCopy.link(source + path, to: draft + path)
        }
    }

    /// Members know the server by the key of the certificate that it made, if it did, and so go on knowing it.
    private func copyCertificate() throws {
        let name = "/" + SelfSignedCertificate.fileName
        guard Directory.holds(source + name) else { return }
        try FileCopy.copy(source + name, to: draft + name)
    }

    private func publish() throws {
        // Replaces an empty directory, and nothing else.
        guard unsafe rename(draft, target) == 0 else {
            throw StorageError(errno: errno, "cannot give the copy the name '\(target)'")
        }
        try Directory.sync(Directory.parent(of: target))
    }
}

extension SQLiteStore {
    /// By how much the numbers of a copy's changes are higher than the original's: more than the original may have
    /// given since.
    private static let numbersLeftOut: Int64 = 100_000_000

    /// Gives a copy of a data directory that is served for the first time a journal of its own.
    ///
    /// What the original did after the copy was made is not in the copy, and clients may have seen it. With a new epoch
    /// their cursors start over; and no number is given a second time, so that no revision and no listing's hash that a
    /// client remembers ever means something else.
    static func beginAnew(_ pool: DatabasePool, logger: Logger) throws {
        try pool.write { database in
            guard try database.hasRow("SELECT 1 FROM meta WHERE name = ?", [Schema.Meta.copied]) else { return }
            let next = try SQLiteFolderState.lastRevision(in: database) + numbersLeftOut
            try database.run("UPDATE meta SET value = ? WHERE name = ?", [Secret.text(bytes: 16), Schema.Meta.epoch])
            try database.run("UPDATE meta SET value = ? WHERE name = ?", [next, Schema.Meta.forgotten])
            try database.run("DELETE FROM meta WHERE name = ?", [Schema.Meta.copied])
            logger.notice("this is a copy of a data directory: clients will read the whole club again")
        }
    }
}
