import ByteClubCore
import ByteClubFiles
import Glibc
import Synchronization

/// Writes one chunk at the end of an upload's file.
final class FileUploadWriter: UploadWriter {
    private let store: SQLiteStore
    private let upload: UploadIdentity
    private let lease: ChunkLease
    private let isFinished = Atomic(false)

    /// Writes through the pipeline of a lease.
    init(store: SQLiteStore, upload: UploadIdentity, lease: ChunkLease) {
        self.store = store
        self.upload = upload
        self.lease = lease
    }

    deinit {
        lease.pipeline.abandon(ChunkLease.Revoked())
        store.claims.release(upload.id, lease)
    }

    func append(_ bytes: UnsafeRawBufferPointer) -> Bool { unsafe lease.pipeline.append(bytes) }

    func flush() async throws {
        try store.files.reserve.check()
        do {
            try await lease.pipeline.flush()
        } catch is ChunkLease.Revoked {
            throw await displaced()
        }
    }

    func finish() async throws -> ChunkedUpload {
        do {
            return try await lease.exclusively { [self] in
                let (offset, digests) = try await lease.pipeline.finish()
                // From here on the database may have the bytes, even if it reports a failure.
                isFinished.store(true, ordering: .releasing)
                return try await store.advance(upload, to: offset, digests: digests)
            }
        } catch is ChunkLease.Revoked {
            throw await displaced()
        } catch {
            await discard()
            throw error
        }
    }

    func discard() async {
        if isFinished.load(ordering: .acquiring) { return }
        await lease.pipeline.stop(ChunkLease.Revoked())
        let (path, length) = (store.files.uploadPath(upload.id), upload.offset)
        // Bytes that were never acknowledged would not count for any quota. Another chunk that came meanwhile has cut
        // them off.
        try? await lease.exclusively {
            try await ContentPipeline.onDisk { try Descriptor(path: path, flags: O_WRONLY).truncate(to: length) }
        }
        store.claims.release(upload.id, lease)
    }

    private func displaced() async -> any Error {
        do {
            let current = try await store.upload(upload.id, member: upload.member)
            return UploadError.wrongOffset(got: upload.offset, upload: current)
        } catch {
            return error
        }
    }
}
