import ByteClubCore
import ByteClubFiles
import Glibc
import Synchronization

/// Files that can be made again: each is whole or missing, never torn, and losing one costs only time.
struct ThumbnailCache: Sendable {
    /// When a file's bytes are synced.
    enum Syncing {
        /// Before it gets its name.
        case now
        /// By the next ``ThumbnailCache/settle()``, in a lot with others. Until then it has the sticky bit, which means
        /// nothing else for a file: one that has it and was not stored by this cache may have been torn by a crash of
        /// the machine, and is not there. Where the file system keeps no such bit, as ``now``.
        case later
        /// Some time by the system: for less than a block, of which a crash leaves all, nothing or zeros.
        case never
    }

    private static let unsettledMark: mode_t = S_ISVTX

    private let directory: String
    private let unsettled = UnsettledNames()

    /// The files that were stored and not settled yet, with their order.
    private final class UnsettledNames: Sendable {
        let names = Mutex<[String: Int]>([:])
    }

    /// Keeps files in a folder, which is made when the first one is stored.
    init(directory: String) {
        self.directory = directory
    }

    /// A file's bytes; nil when it is not there, empty or no regular file.
    func read(_ name: String) -> [UInt8]? {
        guard let (file, status) = try? OwnedDescriptor<FileFailure>.regularFile(path(of: name), O_NOFOLLOW),
            isWhole(name, status), status.size < 16 << 20, let bytes = try? file.read(Int(status.size), at: 0),
            bytes.count == status.size
        else { return nil }
        return bytes
    }

    /// Stores a file as well as it can; on a full disk the next request makes it again.
    ///
    /// - Parameters:
    ///   - bytes: The contents of the file.
    ///   - name: Its name.
    ///   - syncing: When its bytes are synced.
    /// - Returns: Whether it exists now.
    @discardableResult func store(_ bytes: [UInt8], as name: String, _ syncing: Syncing = .now) -> Bool {
        let folder = makeFolder(of: name)
        let temporary = folder + "/." + name + "." + String(UInt64.random(in: .min ... .max), radix: 16)
        let mode = syncing == .later ? 0o600 | Self.unsettledMark : 0o600
        do throws(FileFailure) {
            var draft = try DraftFile<FileFailure>(temporary, mode: mode)
            let isMarked = (try? draft.file.fileStatus()).map { $0.permissions & Self.unsettledMark != 0 } ?? false
            try draft.file.write(bytes)
            if !isMarked, syncing != .never { try draft.file.syncData() }
            if isMarked { unsettled.names.withLock { $0[name] = $0.count } }
            try draft.place(at: path(of: name))
            return true
        } catch {
            return false
        }
    }

    /// Syncs all files that were stored with ``Syncing/later``, and marks them as whole in the order in which they were
    /// stored.
    ///
    /// Blocks. No such file may be stored in the meantime.
    func settle() {
        let names = unsettled.names.withLock { $0 }
        if names.isEmpty { return }
        guard (try? Directory.syncFileSystem(directory)) != nil else { return }
        for (name, _) in names.sorted(by: { $0.value < $1.value }) { unsafe chmod(path(of: name), 0o600) }
        unsettled.names.withLock { $0.removeAll() }
    }

    /// Whether a file holds all that was stored in it.
    private func isWhole(_ name: String, _ status: FileStatus) -> Bool {
        guard status.isFile, status.size > 0 else { return false }
        return status.permissions & Self.unsettledMark == 0 || unsettled.names.withLock { $0[name] != nil }
    }

    /// Makes the entries of a name's folder durable.
    ///
    /// Without it a file may be missing after a crash, but never torn.
    func syncFolder(of name: String) {
        try? OwnedDescriptor<FileFailure>.syncFolder(makeFolder(of: name))
    }

    /// A file as something to send; nil when it is not there, empty or no regular file.
    func blob(_ name: String) -> FileBlob? {
        let path = path(of: name)
        guard let status = FileStatus(path, followsLinks: false), isWhole(name, status) else { return nil }
        return FileBlob(path: path, length: status.size)
    }

    /// Calls a closure with a path to make a file at; its folder exists.
    ///
    /// - Throws: Errors of the closure.
    func make<E: Error>(_ name: String, _ body: (String) throws(E) -> Void) throws(E) {
        makeFolder(of: name)
        try body(path(of: name))
    }

    /// Stores why there is no file: a status and a text.
    func refuse(_ error: APIError, as name: String) {
        store(Array("\(error.status) \(error.message)".utf8.prefix(4000)), as: name, .never)
    }

    /// Why there is no file, as it was stored in one; nil when nothing is known.
    func refusal(_ name: String) -> APIError? {
        guard let text = read(name).map({ String(decoding: $0, as: UTF8.self) }),
            let blank = text.firstIndex(of: " "), let status = Int(text[..<blank]), [404, 415].contains(status)
        else { return nil }
        return APIError(status, String(text[text.index(after: blank)...]))
    }

    /// Removes a file, if it is there.
    func remove(_ name: String) { unsafe unlink(path(of: name)) }

    /// The files whose names begin with a byte in hexadecimal, with their sizes in bytes and when they were made, in
    /// seconds since 1970; in no order.
    func files(beginning byte: UInt8) -> [(name: String, bytes: Int64, made: Int64)] {
        let prefix = Hexadecimal.encode([byte])
        var found: [(name: String, bytes: Int64, made: Int64)] = []
        Self.visitFiles(in: directory + "/" + prefix) { name, status in
            if name.hasPrefix(prefix) { found.append((name, status.size, status.modified)) }
        }
        return found
    }

    /// Removes temporary files of killed processes, in the folder of names that begin with a byte or beside the
    /// folders: those that are hidden and older than an hour.
    func removeLeftovers(beginning byte: UInt8?) {
        let hourAgo = time(nil) - 3600
        let folder = byte.map { directory + "/" + Hexadecimal.encode([$0]) } ?? directory
        Self.visitFiles(in: folder) { name, status in
            if name.hasPrefix("."), status.modified < hourAgo { unsafe unlink(folder + "/" + name) }
        }
    }

    /// Visits the regular files in a folder, in no order; none when there is no folder.
    private static func visitFiles(in folder: String, _ visit: (_ name: String, _ status: FileStatus) -> Void) {
        guard let names = try? FolderNames(folder) else { return }
        for name in names {
            if let status = FileStatus(folder + "/" + name, followsLinks: false), status.isFile { visit(name, status) }
        }
    }

    @discardableResult private func makeFolder(of name: String) -> String {
        let folder = directory + "/" + name.prefix(2)
        unsafe mkdir(directory, 0o700)
        unsafe mkdir(folder, 0o700)
        return folder
    }

    private func path(of name: String) -> String { directory + "/" + name.prefix(2) + "/" + name }
}
