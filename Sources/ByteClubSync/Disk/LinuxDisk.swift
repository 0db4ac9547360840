import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc
import Synchronization

/// A directory of a Linux file system as a mirror's disk.
final class LinuxDisk: Disk {
    /// Operations that the file system turned out not to support.
    struct Limits: OptionSet, Sendable {
        let rawValue: UInt8
        /// It has no handles: files are identified by inode and birth time.
        static let handles = Limits(rawValue: 1)
        /// It cannot rename without replacing.
        static let noReplace = Limits(rawValue: 2)
        /// It cannot exchange two entries.
        static let exchange = Limits(rawValue: 4)
        /// It does not keep whether a file is executable.
        static let executable = Limits(rawValue: 8)
    }

    private let path: String
    private let limits: LinuxLimits

    /// Uses the mirror's root at a path; links on the way to it are followed.
    ///
    /// `limits` is what the file system is known not to be able to do.
    init(_ path: String, limits: Limits = []) {
        self.path = path
        self.limits = LinuxLimits(limits)
    }

    func openRoot() throws(FileError) -> any DiskFolder {
        try LinuxFolder(FileDescriptor.open(path, O_RDONLY | O_DIRECTORY), limits)
    }

    func now() -> Int64 { WallClock.now() }
}

/// The known limits of a file system, shared by all folders of a disk.
final class LinuxLimits: Sendable {
    private let bits: Atomic<UInt8>

    init(_ known: LinuxDisk.Limits) { bits = Atomic(known.rawValue) }

    var known: LinuxDisk.Limits { LinuxDisk.Limits(rawValue: bits.load(ordering: .relaxed)) }

    /// Remembers a limit.
    func add(_ limit: LinuxDisk.Limits) { bits.bitwiseOr(limit.rawValue, ordering: .relaxed) }
}

/// An open regular file.
final class LinuxFile: DiskFile {
    private let descriptor: FileDescriptor
    private let limits: LinuxLimits

    init(_ descriptor: FileDescriptor, _ limits: LinuxLimits) {
        self.descriptor = descriptor
        self.limits = limits
    }

    func stat() throws(FileError) -> FileStat {
        let status = try descriptor.status()
        return unsafe FileStat(status, FileHandle(descriptor.number, "", status, limits), limits)
    }

    func read(into buffer: inout [UInt8], at offset: Int64) throws(FileError) -> Int {
        try descriptor.read(into: &buffer, at: offset)
    }

    func write(_ bytes: [UInt8]) throws(FileError) { try descriptor.write(bytes) }

    func setModified(_ time: FileTime) throws(FileError) {
        if time.isOnEveryDisk { return try set(time) }
        let before = FileTime(nanoseconds: try descriptor.status().modified)
        try set(time)
        if try time.isKept(as: descriptor.status().modified) { return }
        try set(before)
        // The file system has no such time, and the file keeps its own.
        throw FileError(operation: "set the time of", path: descriptor.path, code: ERANGE)
    }

    /// Leaves when it was last read.
    private func set(_ time: FileTime) throws(FileError) {
        guard byteclub_set_modified(descriptor.number, time.date.seconds, time.fraction) == 0 else {
            throw descriptor.failure("set the time of")
        }
    }

    func setExecutable(_ isExecutable: Bool) throws(FileError) -> Bool {
        if limits.known.contains(.executable) { return false }
        return try descriptor.setExecutable(isExecutable)
    }

    func sync() throws(FileError) { try descriptor.sync() }

    var isBeingWritten: Bool { byteclub_probe_lease(descriptor.number) != 0 && errno == EAGAIN }

    var path: String? { "/proc/self/fd/\(descriptor.number)" }
}
