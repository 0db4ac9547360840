import ByteClubFiles
import CLinux
import Dispatch
import Glibc
import Synchronization

/// An open directory.
final class LinuxFolder: DiskFolder {
    let descriptor: FileDescriptor
    let limits: LinuxLimits
    private let knownDevice = Mutex<UInt64?>(nil)

    init(_ descriptor: FileDescriptor, _ limits: LinuxLimits) {
        self.descriptor = descriptor
        self.limits = limits
    }

    /// The number of the file system's device, which an open folder keeps.
    private func device() throws(FileError) -> UInt64 {
        if let known = knownDevice.withLock({ $0 }) { return known }
        let found = try descriptor.status().device
        knownDevice.withLock { $0 = found }
        return found
    }

    var path: String? { "/proc/self/fd/\(descriptor.number)" }

    func stat() throws(FileError) -> FileStat {
        let status = try descriptor.status()
        return unsafe FileStat(status, FileHandle(descriptor.number, "", status, limits), limits)
    }

    func fingerprintedList() throws(FileError) -> (entries: [DiskEntry], fingerprint: ListingFingerprint) {
        let device = try device()
        var entries: [DiskEntry] = []
        var sum = ListingHasher()
        var isRacy = false
        let now = WallClock.now()
        unsafe try LinuxListing(directory: descriptor).forEach { name, status in
            unsafe sum.add(name, status)
            if status.isRacy(at: now) { isRacy = true }
            guard let text = unsafe name.assumingMemoryBound(to: CChar.self).baseAddress else { return }
            let decoded = unsafe String(validatingCString: text)
            unsafe entries.append(
                DiskEntry(
                    name: decoded ?? String(decoding: name, as: UTF8.self), isDecodable: decoded != nil,
                    kind: DiskKind(status, inFolderOn: device),
                    stat: FileStat(status, FileHandle(descriptor.number, text, status, limits), limits)))
        }
        return (entries, ListingFingerprint(high: sum.high, low: sum.low, isRacy: isRacy))
    }

    func listingFingerprint() throws(FileError) -> ListingFingerprint {
        var sum = ListingHasher()
        var isRacy = false
        let now = WallClock.now()
        unsafe try LinuxListing(directory: descriptor).forEach { name, status in
            unsafe sum.add(name, status)
            if status.isRacy(at: now) { isRacy = true }
        }
        return ListingFingerprint(high: sum.high, low: sum.low, isRacy: isRacy)
    }

    /// Computes them on all cores: nearly all the time of a full scan is spent in statx(2).
    func listingFingerprints(of folders: [any DiskFolder]) -> [Result<ListingFingerprint, FileError>] {
        let fingerprints = Mutex<[Result<ListingFingerprint, FileError>?]>(Array(repeating: nil, count: folders.count))
        DispatchQueue.concurrentPerform(iterations: folders.count) { index in
            let fingerprint = Result { () throws(FileError) in try folders[index].listingFingerprint() }
            fingerprints.withLock { $0[index] = fingerprint }
        }
        return fingerprints.withLock { $0.compactMap(\.self) }
    }

    func entry(_ name: String) throws(FileError) -> DiskEntry? {
        guard let status = try descriptor.status(of: name) else { return nil }
        return unsafe DiskEntry(
            name: name, isDecodable: true, kind: DiskKind(status, inFolderOn: try device()),
            stat: FileStat(status, FileHandle(descriptor.number, name, status, limits), limits))
    }

    func folder(_ name: String) throws(FileError) -> any DiskFolder {
        LinuxFolder(try descriptor.directory(name), limits)
    }

    func makeFolder(_ name: String) throws(FileError) { try descriptor.makeDirectory(name) }

    func removeFolder(_ name: String) throws(FileError) { try descriptor.removeDirectory(name) }

    func open(_ name: String) throws(FileError) -> any DiskFile {
        // Opening a pipe would wait for its other end.
        let file = try descriptor.open(name, O_RDONLY | O_NONBLOCK)
        guard try file.status().mode & S_IFMT == S_IFREG else {
            throw FileError(operation: "read", path: file.path, code: EINVAL)
        }
        return LinuxFile(file, limits)
    }

    func create(_ name: String) throws(FileError) -> any DiskFile {
        LinuxFile(try descriptor.open(name, O_RDWR | O_CREAT | O_EXCL), limits)
    }

    func takeAccess(_ name: String, from other: String, in folder: any DiskFolder) throws(FileError) -> Bool {
        guard let wanted = try (folder as? LinuxFolder)?.descriptor.status(of: other) else { return false }
        return try descriptor.open(name, O_RDONLY | O_NONBLOCK).setAccess(wanted.mode, group: wanted.group)
    }

    func learnLimits(with name: String) throws(FileError) {
        if limits.known.contains(.executable) { return }
        if try descriptor.status(of: name) != nil { try descriptor.remove(name) }
        let file = try descriptor.open(name, O_RDWR | O_CREAT | O_EXCL)
        // Where all files are executable, or none, the bit has no meaning.
        let isAlways = try file.status().mode & S_IXUSR != 0
        _ = try? file.setExecutable(true)
        let isNever = try file.status().mode & S_IXUSR == 0
        if isAlways || isNever { limits.add(.executable) }
        try descriptor.remove(name)
    }

    /// Another user's folder stays as it is.
    func closeToOthers() throws(FileError) {
        let mode = try descriptor.status().mode
        if mode & 0o077 == 0 || fchmod(descriptor.number, mode & 0o700) == 0 || errno == EPERM { return }
        throw descriptor.failure("set the permissions of")
    }

    func removeFile(_ name: String) throws(FileError) { try descriptor.remove(name) }

    func setLocked(_ isLocked: Bool) throws(FileError) -> Bool {
        descriptor.setLocked(isLocked, isOptional: true)
    }

    func sync() throws(FileError) { try descriptor.sync() }

    func syncFileSystem() throws(FileError) { try descriptor.syncFileSystem() }

    func room() throws(FileError) -> (free: Int64, total: Int64) {
        var status = statvfs()
        guard unsafe fstatvfs(descriptor.number, &status) == 0 else {
            throw FileError(operation: "ask for free space at", path: descriptor.path, code: errno)
        }
        let bytes = { (blocks: UInt64) in
            let (bytes, isFar) = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return isFar ? .max : Int64(clamping: bytes)
        }
        return (bytes(UInt64(status.f_bavail)), bytes(UInt64(status.f_blocks)))
    }

    func fileSystem() throws(FileError) -> String {
        var status = CLinux.statfs()
        guard unsafe fstatfs(descriptor.number, &status) == 0 else {
            throw FileError(operation: "ask for the file system of", path: descriptor.path, code: errno)
        }
        let (first, second) = status.f_fsid.__val
        if first != 0 || second != 0 { return "\(first).\(second)" }
        return "\(try descriptor.status().device)"
    }
}

extension LinuxFolder {
    /// The suffix of the temporary name of one entry while two are exchanged in several steps.
    ///
    /// A crash may leave it: it is then the entry that was at the exchange's target.
    static let temporarySuffix = ".aside"

    func rename(
        _ name: String, to folder: any DiskFolder, _ newName: String, _ mode: RenameMode
    ) throws(FileError) {
        guard let folder = folder as? LinuxFolder else {
            throw FileError(operation: "rename", path: descriptor.path + "/" + name, code: EXDEV)
        }
        let (limit, flag) =
            mode == .exchanging
            ? (LinuxDisk.Limits.exchange, byteclub_rename_exchange)
            : (LinuxDisk.Limits.noReplace, byteclub_rename_noreplace)
        if !limits.known.contains(limit) {
            do {
                return try descriptor.rename(name, to: folder.descriptor, newName, flag)
            } catch {
                // EINVAL also means that a folder would be moved into itself, which a plain rename refuses as well.
                guard error.code == EINVAL || error.code == ENOSYS else { throw error }
                if try isIntoItself(name, folder) { throw error }
                limits.add(limit)
            }
        }
        switch mode {
        case .withoutReplacing: try renameByLink(name, to: folder, newName)
        case .exchanging: try exchangeBySteps(name, with: folder, newName)
        }
    }

    /// Whether an entry is a folder that contains the other.
    private func isIntoItself(_ name: String, _ folder: LinuxFolder) throws(FileError) -> Bool {
        guard let moved = try descriptor.status(of: name), moved.mode & S_IFMT == S_IFDIR else { return false }
        var above = folder.descriptor
        while true {
            let status = try above.status()
            if status.inode == moved.inode, status.device == moved.device { return true }
            let next = try above.directory("..")
            let parent = try next.status()
            if parent.inode == status.inode, parent.device == status.device { return false }
            above = next
        }
    }

    /// A file gets the new name before it loses the old one; a folder replaces an empty one made for it.
    private func renameByLink(_ name: String, to folder: LinuxFolder, _ newName: String) throws(FileError) {
        guard let status = try descriptor.status(of: name) else { throw failure(ENOENT, name) }
        if status.mode & S_IFMT == S_IFDIR {
            try folder.descriptor.makeDirectory(newName)
            do {
                try descriptor.rename(name, to: folder.descriptor, newName)
            } catch {
                try? folder.descriptor.removeDirectory(newName)
                throw error
            }
            return
        }
        if unsafe linkat(descriptor.number, name, folder.descriptor.number, newName, 0) == 0 {
            let linked = try folder.descriptor.status(of: newName)
            let left = try descriptor.status(of: name)
            // Another process may have put its own file there meanwhile: then it stays.
            if let linked, let left, linked.inode == left.inode { try descriptor.remove(name) }
            return
        }
        let code = errno
        guard code == EPERM || code == EOPNOTSUPP || code == ENOSYS || code == EMLINK else { throw failure(code, name) }
        if try folder.descriptor.status(of: newName) != nil { throw failure(EEXIST, name) }
        try descriptor.rename(name, to: folder.descriptor, newName)
    }

    /// Moves the entry at the target to a temporary name in this folder, then the other to the target, then the first
    /// to the other's name.
    private func exchangeBySteps(_ name: String, with folder: LinuxFolder, _ newName: String) throws(FileError) {
        let temporary = name + Self.temporarySuffix
        try folder.rename(newName, to: self, temporary, .withoutReplacing)
        do {
            try rename(name, to: folder, newName, .withoutReplacing)
        } catch {
            try? rename(temporary, to: folder, newName, .withoutReplacing)
            throw error
        }
        try rename(temporary, to: self, name, .withoutReplacing)
    }

    private func failure(_ code: Int32, _ name: String) -> FileError {
        FileError(operation: "rename", path: descriptor.path + "/" + name, code: code)
    }
}
