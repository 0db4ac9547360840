import CLinux
import Glibc

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
