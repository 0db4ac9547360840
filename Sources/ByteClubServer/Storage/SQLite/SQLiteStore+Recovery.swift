import ByteClubCore
import ByteClubFiles
import GRDB
import Glibc
import Logging

extension SQLiteStore {
    /// Whether an upload is over its time by the wall clock, and by the time that has passed for certain.
    static let isExpired = "expires <= ? AND begun <= ?"

    /// Removes from the staging folder what no upload needs, and cuts uploads to the length that was acknowledged.
    func recoverStaging() throws {
        // A directory that was made just before a crash may not be on disk yet.
        try Directory.sync(files.root)
        let now = now().seconds
        let sizes = try pool.write { database in
            try database.run(
                "INSERT OR IGNORE INTO meta(name, value) VALUES (?, ?)", [Schema.Meta.age, age(in: database).text])
            try database.run(
                "DELETE FROM upload WHERE \(Self.isExpired)", [now, age(in: database).seconds - WaitingTime.upload])
            try database.run("DELETE FROM upload_block WHERE upload NOT IN (SELECT id FROM upload)")
            let rows = try database.rows("SELECT id, size FROM upload WHERE completed = 0") {
                ("upload-" + ($0[0] as String), $0[1] as Int64)
            }
            return Dictionary(rows) { first, _ in first }
        }
        for name in try Directory.names(in: files.staging) {
            let path = files.staging + "/" + name
            guard let size = sizes[name] else {
                logger.info("removing leftovers of an interrupted upload", metadata: ["file": "\(name)"])
                unsafe unlink(path)
                continue
            }
            if let length = Directory.fileLength(path), length > size {
                try Descriptor(path: path, flags: O_WRONLY).truncate(to: size)
            }
        }
    }

    func removeExpired() async throws {
        try await removeExpiredUploads()
        try await chunks.removeExpired()
    }

    /// Forgets uploads older than 48 hours, and removes their files.
    func removeExpiredUploads() async throws {
        let now = now().seconds
        let expired = try await query { [self] database in
            try database.rows(
                "SELECT id FROM upload WHERE \(Self.isExpired) LIMIT 100",
                [now, age(in: database).seconds - WaitingTime.upload]
            ) { $0[0] as String }
        }
        if expired.isEmpty { return }
        try await writer.perform { try Self.forget(expired, in: $0) }
        await removeFiles(ofUploads: expired)
    }

    /// Forgets uploads; their files go once that is durable.
    static func forget(_ uploads: [String], in transaction: WriteTransaction) throws {
        for id in uploads {
            try transaction.execute("DELETE FROM upload WHERE id = ?", [id])
            try transaction.execute("DELETE FROM upload_block WHERE upload = ?", [id])
        }
    }

    /// Removes the files of uploads that are forgotten.
    func removeFiles(ofUploads uploads: [String]) async {
        for id in uploads {
            claims.forget(id)
            let path = files.uploadPath(id)
            try? await ContentPipeline.onDisk { _ = unsafe unlink(path) }
        }
    }
}
