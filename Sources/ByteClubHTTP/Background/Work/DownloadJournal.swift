import Glibc

/// What a download has kept for the next attempt: the resume data in its journal, and which file it was about to become.
///
/// Calls block.
struct DownloadJournal: Sendable {
    private let folder: TaskFolder
    private let id: BackgroundTask.ID

    init(_ folder: TaskFolder, _ id: BackgroundTask.ID) {
        self.folder = folder
        self.id = id
    }

    var path: String { folder.journalPath(of: id) }

    /// What can be continued; nil when there is nothing, or it is damaged.
    func load() -> ResumeData? { bytes.flatMap { try? ResumeData(bytes: $0) } }

    /// Keeps what a download left, durably: its bytes, then the data about them.
    ///
    /// - Returns: How many bytes are safe.
    func keep(_ data: ResumeData) -> Int64 {
        // From here on the temporary file stays, whatever happens.
        _ = data.bytes
        var record = data.record
        // The next attempt may be killed after it wrote to the file and before it wrote the journal.
        record.modified = nil
        guard Durable.syncFile(record.temporary) == 0, Durable.write(record.encoded, to: path) == 0 else {
            return load()?.bytesReceived ?? 0
        }
        return record.count
    }

    /// Removes the journal and the part that it tells of.
    func discard() {
        load()?.discard()
        unsafe unlink(path)
    }

    private var bytes: [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var result: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while result.count <= Self.mostBytes {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return result }
            if count > 0 { result += chunk[..<count] } else if errno != EINTR { return nil }
        }
        return nil
    }

    private static let mostBytes = 256 << 10
}
