import ByteClubCore
import ByteClubFiles
import FoundationEssentials
import GRDB
import Glibc

extension SQLiteStore {
    func beginUpload(member: Int64) async throws -> ChunkedUpload {
        try await removeExpiredUploads()
        let id = Secret.text(bytes: 16)
        let expires = APIDate(seconds: now().seconds + WaitingTime.upload)
        let path = files.uploadPath(id)
        let staging = files.staging
        try await ContentPipeline.onDisk {
            _ = try Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL)
            try Directory.sync(staging)
        }
        do {
            let givenUp = try await writer.perform { [self] transaction in
                let givenUp = try makeWay(for: member, in: transaction)
                try transaction.execute(
                    "INSERT INTO upload(id, member, size, expires, begun, touched) VALUES (?, ?, 0, ?, ?, ?)",
                    [id, member, expires.seconds, age(in: transaction.database).seconds, now().seconds])
                return givenUp
            }
            await removeFiles(ofUploads: givenUp)
        } catch {
            unsafe unlink(path)
            throw error
        }
        return ChunkedUpload(uploadID: id, offset: 0, expires: expires)
    }

    /// Gives up as many of a member's unfinished uploads as there are too many with one more: those that nothing has
    /// come of for the longest time, since that is what a client leaves behind that was killed.
    ///
    /// - Throws: ``UploadError`` `tooMany` when bytes of all of them are just arriving.
    private func makeWay(for member: Int64, in transaction: WriteTransaction) throws -> [String] {
        let unfinished = try transaction.database.rows(
            "SELECT id FROM upload WHERE member = ? AND completed = 0 ORDER BY touched, id", [member]
        ) { $0[0] as String }
        let excess = max(0, unfinished.count + 1 - settings.unfinishedUploads)
        let idle = unfinished.filter(claims.isIdle)
        guard excess <= idle.count else { throw UploadError.tooMany }
        let givenUp = Array(idle.prefix(excess))
        try Self.forget(givenUp, in: transaction)
        return givenUp
    }

    func upload(_ id: String, member: Int64) async throws -> ChunkedUpload {
        let now = now().seconds
        let upload = try await query { [self] database in
            try database.firstRow(
                "SELECT size, expires, completed FROM upload WHERE id = ? AND member = ? AND NOT (\(Self.isExpired))",
                [id, member, now, age(in: database).seconds - WaitingTime.upload]
            ) { row in
                if (row[2] as Int) != 0 { throw UploadError.alreadyCompleted }
                return ChunkedUpload(uploadID: id, offset: row[0], expires: APIDate(seconds: row[1]))
            }
        }
        guard let upload else { throw UploadError.unknown }
        return upload
    }

    func appendToUpload(_ id: String, member: Int64, at offset: Int64) async throws -> any UploadWriter {
        let seen = try await upload(id, member: member)
        if seen.offset != offset { throw UploadError.wrongOffset(got: offset, upload: seen) }
        let lease = ChunkLease()
        try await claims.claim(id, lease)
        do {
            let upload = try await upload(id, member: member)
            if lease.isRevoked || upload.offset != offset {
                throw UploadError.wrongOffset(got: offset, upload: upload)
            }
            try await lease.exclusively { [self] in
                let (file, digests) = try await openUpload(id, at: offset)
                lease.pipeline.begin(file, offset: offset, digests: digests)
            }
        } catch {
            claims.release(id, lease)
            if error is ChunkLease.Revoked {
                throw UploadError.wrongOffset(got: offset, upload: try await upload(id, member: member))
            }
            throw error
        }
        return FileUploadWriter(
            store: self, upload: UploadIdentity(id: id, member: member, offset: offset), lease: lease)
    }

    func finishedUpload(_ id: String, member: Int64) async throws -> StagedContent {
        let upload = try await upload(id, member: member)
        let path = files.uploadPath(id)
        let blocks = try await query { database in
            try database.rows("SELECT digest FROM upload_block WHERE upload = ? ORDER BY block", [id]) {
                $0.bytes(0) ?? []
            }
        }
        let tail: BlockDigests
        if let known = claims.tail(id, offset: upload.offset) {
            tail = known
        } else {
            tail = try await ContentPipeline.onDisk {
                try Self.readTail(Descriptor(path: path, flags: O_RDONLY), to: upload.offset)
            }
        }
        guard Int64(blocks.count) == upload.offset / Int64(ContentHash.blockSize) else {
            throw StorageError(.damaged, "the hashes of the upload '\(id)' are not complete")
        }
        let hash = try tail.contentHash(after: blocks.flatMap { $0 })
        let identity = UploadIdentity(id: id, member: member, offset: upload.offset)
        if upload.offset <= Int64(StagedContent.inlineLimit) {
            let bytes = try await ContentPipeline.onDisk {
                try Descriptor(path: path, flags: O_RDONLY).read(Int(upload.offset), at: 0)
            }
            return StagedContent(bytes: upload.offset, hash: hash, place: .inline(bytes), upload: identity)
        }
        let file = StagedFile(path: path, isTemporary: false)
        return StagedContent(bytes: upload.offset, hash: hash, place: .blob(file), upload: identity)
    }

    /// Makes a chunk that is synced part of its upload.
    func advance(_ upload: UploadIdentity, to offset: Int64, digests: BlockDigests) async throws -> ChunkedUpload {
        var digests = digests
        let blocks = digests.takeDigests()
        let first = upload.offset / Int64(ContentHash.blockSize)
        let now = now().seconds
        try await writer.perform { transaction in
            let changed = try transaction.execute(
                "UPDATE upload SET size = ?, touched = ? WHERE id = ? AND member = ? AND size = ? AND completed = 0",
                [offset, now, upload.id, upload.member, upload.offset])
            if changed != 1 { throw ChunkLease.Revoked() }
            for number in 0..<(blocks.count / ContentHash.byteCount) {
                let digest = blocks.dropFirst(number * ContentHash.byteCount).prefix(ContentHash.byteCount)
                try transaction.execute(
                    "INSERT OR REPLACE INTO upload_block(upload, block, digest) VALUES (?, ?, ?)",
                    [upload.id, first + Int64(number), Data(digest)])
            }
        }
        claims.remember(upload.id, offset: offset, digests: digests)
        return try await self.upload(upload.id, member: upload.member)
    }

    /// Runs the write that completes an upload, while no chunk may touch its file.
    func committing<T: Sendable>(_ upload: UploadIdentity, _ body: () async throws -> T) async throws -> T {
        try await claims.claim(upload.id, nil)
        defer { claims.releaseCommit(upload.id) }
        // Bytes that were acknowledged after the hash was computed must not be cut off.
        let size = try await query { database in
            try database.firstRow(
                "SELECT size FROM upload WHERE id = ? AND member = ? AND completed = 0", [upload.id, upload.member]
            ) { $0[0] as Int64 }
        }
        guard size == upload.offset else { throw UploadError.alreadyCompleted }
        let path = files.uploadPath(upload.id)
        try await ContentPipeline.onDisk {
            // Bytes of a chunk that was cut off must not become content.
            guard let length = Directory.fileLength(path), length > upload.offset else { return }
            let file = try Descriptor(path: path, flags: O_WRONLY)
            try file.truncate(to: upload.offset)
            try file.sync()
        }
        let result = try await body()
        claims.forget(upload.id)
        try? await ContentPipeline.onDisk { _ = unsafe unlink(path) }
        return result
    }

    /// Marks an upload as stored by this transaction.
    static func complete(_ upload: UploadIdentity, in transaction: WriteTransaction) throws {
        let changed = try transaction.execute(
            "UPDATE upload SET completed = 1 WHERE id = ? AND member = ? AND size = ? AND completed = 0",
            [upload.id, upload.member, upload.offset])
        if changed != 1 { throw UploadError.alreadyCompleted }
        try transaction.execute("DELETE FROM upload_block WHERE upload = ?", [upload.id])
    }

    private func openUpload(_ id: String, at offset: Int64) async throws -> (Descriptor, BlockDigests) {
        let path = files.uploadPath(id)
        let known = claims.tail(id, offset: offset)
        return try await ContentPipeline.onDisk {
            // A file that is too short, or has become content before a crash, cannot be continued: the client starts
            // again.
            guard let length = Directory.fileLength(path), length >= offset, Directory.linkCount(path) == 1 else {
                throw UploadError.unknown
            }
            let file = try Descriptor(path: path, flags: O_RDWR)
            if length > offset { try file.truncate(to: offset) }
            return (file, try known ?? Self.readTail(file, to: offset))
        }
    }

    private static func readTail(_ file: Descriptor, to offset: Int64) throws -> BlockDigests {
        var digests = BlockDigests()
        let start = offset - offset % Int64(ContentHash.blockSize)
        var place = start
        while place < offset {
            let bytes = try file.read(Int(min(offset - place, 256 << 10)), at: place)
            if bytes.isEmpty { throw StorageError(.damaged, "the file '\(file.path)' is too short") }
            unsafe bytes.withUnsafeBytes { unsafe digests.update($0) }
            place += Int64(bytes.count)
        }
        return digests
    }
}
