import CLinux
import Glibc

/// What the system tells of itself; nil when it does not.
enum MachineFacts {
    /// A file's permissions.
    static func mode(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    /// The number in a file of `/proc`.
    static func number(in path: String) -> Int? {
        guard let bytes = try? LocalFile.read(path, limit: 64) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// The bytes that the user may still write.
    static func freeBytes(_ path: String) -> Int64? {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        return Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: Int64(status.f_frsize)).partialValue
    }
}
