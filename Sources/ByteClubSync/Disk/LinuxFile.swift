import ByteClubCore

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

    func setModified(_ time: FileTime) throws(FileError) { try descriptor.setModified(time) }

    func setExecutable(_ isExecutable: Bool) throws(FileError) -> Bool {
        if limits.known.contains(.executable) { return false }
        return try descriptor.setExecutable(isExecutable)
    }

    func sync() throws(FileError) { try descriptor.sync() }

    var isBeingWritten: Bool { descriptor.isBeingWritten }

    var path: String? { "/proc/self/fd/\(descriptor.number)" }
}
