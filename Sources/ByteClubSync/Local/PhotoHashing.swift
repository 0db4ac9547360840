import ByteClubCore

/// A file of the tree that is open, with its stat when it was opened.
struct OpenedFile: Sendable {
    let item: ItemID
    /// What the tree knows of it.
    let local: LocalState
    let file: any DiskFile
    let stat: FileStat

    /// Whether its bytes are still the ones of its stat.
    ///
    /// - Throws: ``FileError``.
    func isUntouched() throws(FileError) -> Bool { try file.stat().fingerprint.isUntouched(since: stat.fingerprint) }

    /// Whether its content is the one of its stat, whatever the file's name is now; nil when that is unknown.
    var hasSameContent: Bool? { try? file.stat().fingerprint.isSameContent(as: stat.fingerprint) }
}

/// Hashes files of the size of photos, several at a time on other threads; no content is kept.
struct PhotoHashing {
    /// How many files are read at once.
    private static let parallel = 4
    /// How many files are open at once.
    private static let mostOpen = 64
    private static let pieceSize = 256 << 10

    private let context: SyncContext
    private var files: [OpenedFile] = []

    init(_ context: SyncContext) {
        self.context = context
    }

    /// Whether ``run(_:)`` is due, since many files are open.
    var isFull: Bool { files.count >= Self.mostOpen }

    /// Adds a file.
    mutating func add(_ file: OpenedFile) { files.append(file) }

    /// Hashes the files that were added; those that changed meanwhile are scanned again.
    ///
    /// - Throws: `CancellationError`, and the store's errors.
    mutating func run(
        _ report: inout SyncReport
    ) async throws -> [(id: ItemID, hash: ContentHash, stat: FileStat)] {
        let files = files
        self.files = []
        if files.isEmpty { return [] }
        let results = try await Self.hashes(of: files, context.environment.workers)
        var known: [(id: ItemID, hash: ContentHash, stat: FileStat)] = []
        for (one, result) in zip(files, results) {
            do {
                let hash = try result.get()
                let location = one.local.location
                guard let hash, try one.isUntouched(),
                    try context.handles.folder(location.parent, &report)?.entry(location.name.text)?.stat.handle
                        == one.stat.handle
                else {
                    report.rescans.insert(location.parent)
                    report.note(.beingWritten, of: one.item)
                    continue
                }
                report.note(.readable, of: one.item)
                known.append((one.item, hash, one.stat))
            } catch let error as FileError {
                report.refuse(one.item, in: one.local.location.parent, error)
            }
        }
        return known
    }

    /// The files' hashes in their order; nil for a file that is not as long as it was.
    private static func hashes(
        of files: [OpenedFile], _ workers: (any TaskExecutor)?
    ) async throws -> [Result<ContentHash?, FileError>] {
        try await withThrowingTaskGroup(of: [(Int, Result<ContentHash?, FileError>)].self) { group in
            for first in 0..<min(parallel, files.count) {
                group.addTask(executorPreference: workers) {
                    var buffer = [UInt8](repeating: 0, count: pieceSize)
                    var results: [(Int, Result<ContentHash?, FileError>)] = []
                    for index in stride(from: first, to: files.count, by: parallel) {
                        try Task.checkCancellation()
                        results.append((index, Result { () throws(FileError) in try hash(of: files[index], &buffer) }))
                    }
                    return results
                }
            }
            var results = [Result<ContentHash?, FileError>](repeating: .success(nil), count: files.count)
            for try await part in group { for (index, result) in part { results[index] = result } }
            return results
        }
    }

    private static func hash(of one: OpenedFile, _ buffer: inout [UInt8]) throws(FileError) -> ContentHash? {
        var hasher = ContentHasher()
        var offset: Int64 = 0
        while true {
            let count = try one.file.read(into: &buffer, at: offset)
            if count == 0 { break }
            if count == buffer.count { hasher.update(buffer) } else { hasher.update(Array(buffer[..<count])) }
            offset += Int64(count)
        }
        return offset == one.stat.fingerprint.size ? hasher.finalize() : nil
    }
}
