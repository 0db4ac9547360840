import CLinux
import Glibc

/// One look at a directory: all its entries, or an error; never a part that passes for the whole.
struct DirectoryListing {
    struct Entry {
        let name: String
        let mode: mode_t
        let fingerprint: Fingerprint
    }

    private(set) var entries: [Entry] = []
    /// Names that are not UTF-8, as people may read them.
    private(set) var undecodable: [String] = []
    /// Entries that could not be looked at.
    private(set) var unreadable: [(name: String, error: FileError)] = []

    /// Lists a directory; `path` is for errors.
    init(_ directory: FileDescriptor, path: String) throws(FileError) {
        let copy = try directory.directory(".")
        let number = dup(copy.number)
        guard number >= 0 else { throw FileError(operation: "list", path: path, code: errno) }
        guard let stream = unsafe fdopendir(number) else {
            let code = errno
            close(number)
            throw FileError(operation: "list", path: path, code: code)
        }
        defer { unsafe closedir(stream) }
        while true {
            errno = 0
            guard let record = unsafe readdir(stream) else {
                if errno != 0 { throw FileError(operation: "list", path: path, code: errno) }
                return
            }
            unsafe withUnsafePointer(to: &record.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    unsafe take(name, in: directory)
                }
            }
        }
    }

    private mutating func take(_ name: UnsafePointer<CChar>, in directory: FileDescriptor) {
        if unsafe name[0] == 0x2E, unsafe name[1] == 0 || (name[1] == 0x2E && name[2] == 0) { return }
        guard let text = unsafe String(validatingCString: name) else {
            unsafe undecodable.append(String(cString: name))
            return
        }
        var status = stat()
        if unsafe fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 {
            entries.append(Entry(name: text, mode: status.st_mode & S_IFMT, fingerprint: Fingerprint(status)))
        } else if errno != ENOENT {
            unreadable.append((text, FileError(operation: "look at", path: text, code: errno)))
        }
    }
}
