import ByteClubFiles
import CLinux
import Glibc

/// Iterates over a directory's entries with the statx(2) result of each, without allocating per entry.
struct LinuxListing {
    private static let bufferSize = 1 << 15
    /// Where in a record of getdents64(2) its length is, and where its name starts.
    private static let (lengthOffset, nameOffset) = (16, 19)

    let directory: FileDescriptor

    /// Calls `body` with each entry's name, the bytes without the zero at the end, and its status.
    func forEach(
        _ body: (_ name: UnsafeRawBufferPointer, _ status: byteclub_status) -> Void
    ) throws(FileError) {
        // A directory is read at its descriptor's offset, and others may be reading from this descriptor.
        let stream = try directory.directory(".")
        let code = unsafe withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 8) { buffer -> Int32 in
            unsafe Self.read(stream.number, into: buffer, body)
        }
        if code != 0 { throw FileError(operation: "list", path: directory.path, code: code) }
    }

    /// Reads to the end; 0, or the error's number.
    private static func read(
        _ number: Int32, into buffer: UnsafeMutableRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, byteclub_status) -> Void
    ) -> Int32 {
        guard let base = buffer.baseAddress else { return ENOMEM }
        var status = byteclub_status()
        while true {
            let count = unsafe byteclub_getdents(number, base, UInt32(buffer.count))
            if count < 0 { return errno }
            if count == 0 { return 0 }
            var offset = 0
            while offset + nameOffset < count {
                let length = unsafe Int(base.loadUnaligned(fromByteOffset: offset + lengthOffset, as: UInt16.self))
                if length <= nameOffset || offset + length > count { return EIO }
                let name = unsafe UnsafeRawPointer(base + offset + nameOffset)
                offset += length
                let text = unsafe name.assumingMemoryBound(to: CChar.self)
                let bytes = unsafe UnsafeRawBufferPointer(start: name, count: strnlen(text, length - nameOffset))
                if unsafe isDots(bytes) { continue }
                if unsafe byteclub_statx(number, text, &status) == 0 {
                    unsafe body(bytes, status)
                } else if errno != ENOENT {
                    return errno
                }
            }
        }
    }

    private static func isDots(_ name: UnsafeRawBufferPointer) -> Bool {
        guard name.count <= 2 else { return false }
        return unsafe name.allSatisfy { $0 == UInt8(ascii: ".") }
    }
}

extension ListingHasher {
    /// Adds an entry by its status.
    mutating func add(_ name: UnsafeRawBufferPointer, _ status: byteclub_status) {
        let kind = status.mode & S_IFMT
        if kind == S_IFDIR, status.born != 0 {
            unsafe addFolder(name, kind: kind, inode: status.inode, born: status.born)
        } else {
            unsafe add(
                name, kind: kind, inode: status.inode, size: status.size, modified: status.modified,
                changed: status.changed)
        }
    }
}

extension byteclub_status {
    /// Whether the entry could change without a change of what the fingerprint covers.
    func isRacy(at now: Int64) -> Bool {
        switch mode & S_IFMT {
        case S_IFREG: FileFingerprint(self).isRacy(at: now)
        case S_IFDIR: FileFingerprint.isRecent(born, at: now)
        default: false
        }
    }
}

extension FileStat {
    /// Creates a stat from a status that was just read.
    init(_ status: byteclub_status, _ handle: FileHandle, _ limits: LinuxLimits) {
        let fingerprint = FileFingerprint(status)
        let isKnown = status.mode & S_IFMT == S_IFREG && !limits.known.contains(.executable)
        self.init(
            handle: handle, fingerprint: fingerprint, isRacy: fingerprint.isRacy(at: WallClock.now()),
            isExecutable: isKnown ? status.mode & S_IXUSR != 0 : nil)
    }
}

extension FileFingerprint {
    init(_ status: byteclub_status) {
        self.init(
            device: Int64(bitPattern: status.device), inode: Int64(bitPattern: status.inode), size: status.size,
            modified: status.modified, changed: status.changed)
    }
}

extension FileHandle {
    /// Reads a file's handle; with an empty name, the descriptor's own.
    init(_ descriptor: Int32, _ name: UnsafePointer<CChar>, _ status: byteclub_status, _ limits: LinuxLimits) {
        if !limits.known.contains(.handles) {
            let found = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 128) { buffer -> FileHandle? in
                var mount: Int32 = 0
                let count = unsafe byteclub_file_handle(descriptor, name, buffer.baseAddress, 128, &mount)
                return count < 0 ? nil : unsafe FileHandle(bytes: buffer[..<Int(count)])
            }
            if let found {
                self = found
                return
            }
            if errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM { limits.add(.handles) }
        }
        self.init(high: status.inode, low: UInt64(bitPattern: status.born))
    }
}

extension DiskKind {
    /// Classifies an entry by its mode and device, in a folder on a device.
    init(_ status: byteclub_status, inFolderOn device: UInt64) {
        self =
            switch status.mode & S_IFMT {
            case _ where status.isMountPoint != 0 || status.device != device: .other("another file system")
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .other("a symbolic link")
            case S_IFIFO: .other("a pipe")
            case S_IFSOCK: .other("a socket")
            default: .other("a device")
            }
    }
}
