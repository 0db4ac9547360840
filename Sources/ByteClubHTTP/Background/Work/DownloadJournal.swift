import ByteClubFiles
import Glibc

/// The resume data that a download's attempt leaves for the next one, in `ID.resume`.
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

    /// The data; nil when there are none, or they are damaged.
    func load() -> ResumeData? { bytes.flatMap { try? ResumeData(bytes: $0) } }

    /// Saves the data of a stopped download durably: first the downloaded bytes, then the data about them.
    ///
    /// - Returns: How many bytes are safe.
    func keep(_ data: ResumeData) -> Int64 {
        // Reading them has the temporary file outlive these data.
        _ = data.bytes
        var record = data.record
        // The next attempt may be killed between its write to the file and its write to the journal.
        record.modified = nil
        do throws(FileFailure) {
            try Durable.syncFile(record.temporary)
            try Durable.write(record.encoded, to: path)
            return record.count
        } catch {
            return load()?.bytesReceived ?? 0
        }
    }

    /// Removes the journal and its temporary file.
    func discard() {
        load()?.discard()
        unsafe unlink(path)
    }

    private var bytes: [UInt8]? {
        guard let file = try? OwnedDescriptor<FileFailure>(path, O_RDONLY | O_NOFOLLOW),
            let bytes = try? file.read(Self.mostBytes + 1, at: 0), bytes.count <= Self.mostBytes
        else { return nil }
        return bytes
    }

    private static let mostBytes = 256 << 10
}

/// The identity of a download's temporary file, saved as the task's checkpoint.
///
/// It shows that the target is the complete download if the daemon was killed after it renamed the file and before it
/// recorded that.
struct DownloadMark: Sendable, Hashable {
    private var inode: UInt64
    /// The length of the complete download.
    private(set) var total: Int64
    /// The ``MachineStart`` during which the bytes were written: until the next one they are there, synced or not.
    private var boot: String

    /// Shorter files get no mark: they are downloaded again as fast as a mark is saved.
    static let leastBytes: Int64 = 1 << 20

    /// The mark of a partial download; nil when the total length is unknown.
    init?(_ data: ResumeData) {
        guard let total = data.record.total else { return nil }
        inode = data.record.inode
        self.total = total
        boot = MachineStart.present
    }

    /// Whether the file at the path is the marked one with all of its bytes; blocks.
    func isWhole(_ path: String) -> Bool {
        guard MachineStart.isPresent(boot), let status = FileStatus(path, followsLinks: false) else { return false }
        return status.inode == inode && status.size == total && status.isFile
    }
}

extension DownloadMark: Recordable {
    func encode(to writer: inout RecordWriter) { writer.put(inode, total, boot) }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) { (inode, total, boot) = try reader.values() }
}

/// The temporary files of a killed daemon's downloads that no journal names.
///
/// Their names contain their task's ID, since a download without a validator has no journal.
struct LeftParts: Sendable {
    private let folder: TaskFolder
    /// The unfinished downloads, by the folders of their targets.
    private var tasks: [String: Set<BackgroundTask.ID>] = [:]

    /// The parts of the given tasks, none of which may be running.
    init(of tasks: [BackgroundStatus], _ folder: TaskFolder) {
        self.folder = folder
        for task in tasks where task.state != .done {
            guard case .download(_, let path) = task.request.work, let slash = path.lastIndex(of: "/") else { continue }
            self.tasks[String(path[...slash]), default: []].insert(task.id)
        }
    }

    var isEmpty: Bool { tasks.isEmpty }

    /// The ``TaskOptions/partTag`` of a task.
    static func tag(of id: BackgroundTask.ID) -> String { "\(id)-" }

    /// Removes the files; blocks.
    func remove() {
        for (place, ids) in tasks {
            for name in (try? Array(FolderNames(place))) ?? [] {
                guard let id = Self.id(in: name), ids.contains(id) else { continue }
                let path = place + name
                if DownloadJournal(folder, id).load()?.temporaryFile != path { unsafe unlink(path) }
            }
        }
    }

    /// The task of a temporary file; nil for other files.
    private static func id(in name: String) -> BackgroundTask.ID? {
        guard name.hasPrefix(ResumeRecord.prefix), name.hasSuffix(ResumeRecord.suffix) else { return nil }
        let parts = name.dropFirst(ResumeRecord.prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 ? BackgroundTask.ID(String(parts[0])) : nil
    }
}
