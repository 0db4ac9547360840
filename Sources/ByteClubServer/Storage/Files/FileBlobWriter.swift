import ByteClubCore
import Glibc
import Synchronization

/// Writes one content to a file in the staging folder, or keeps it in memory when it is small.
final class FileBlobWriter: BlobWriter {
    private let path: String
    private let reserve: DiskReserve
    private let pipeline = ContentPipeline()
    private let staged = Mutex<StagedFile?>(nil)

    /// Writes to a path that does not exist; the file is made when the content turns out to be large.
    init(path: String, reserve: DiskReserve) {
        self.path = path
        self.reserve = reserve
    }

    func append(_ bytes: UnsafeRawBufferPointer) -> Bool { unsafe pipeline.append(bytes) }

    func flush() async throws {
        try reserve.check()
        try await openFile()
        try await pipeline.flush()
    }

    func finish(durably: Bool) async throws -> StagedContent {
        let small = pipeline.takeBody(upTo: StagedContent.inlineLimit)
        if let content = small.flatMap(StagedContent.init(inline:)) { return content }
        try await openFile()
        let (length, digests) = try await pipeline.finish(durably: durably)
        guard let file = staged.withLock({ $0 }) else { throw StorageError(.closed, "the content was discarded") }
        return StagedContent(bytes: length, hash: try digests.contentHash(), place: .blob(file))
    }

    func discard() async {
        await pipeline.stop(StorageError(.closed, "the content was discarded"))
        staged.withLock { $0 = nil }
    }

    private func openFile() async throws {
        if pipeline.hasFile { return }
        let path = path
        let file = try await ContentPipeline.onDisk {
            try Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL)
        }
        staged.withLock { $0 = StagedFile(path: path) }
        pipeline.begin(file, offset: 0, digests: BlockDigests())
    }
}

/// A synced file in the staging folder.
///
/// A temporary one is removed with its last reference unless it was moved to its place; an upload's file stays.
final class StagedFile: StagedBlob {
    /// The file's path while it waits.
    let path: String
    /// Whether the file is removed with this object.
    let isTemporary: Bool
    private let isMoved = Atomic(false)

    /// Creates a reference to a file.
    init(path: String, isTemporary: Bool = true) {
        self.path = path
        self.isTemporary = isTemporary
    }

    deinit {
        if isTemporary, !isMoved.load(ordering: .acquiring) { unsafe unlink(path) }
    }

    /// Marks the file as moved away from its path or not.
    func setMoved(_ moved: Bool) { isMoved.store(moved, ordering: .releasing) }
}
