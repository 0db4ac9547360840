import Glibc

/// The least that a scan of a whole tree costs: each directory read, the stat of each entry, and nothing made of it.
enum BareWalk {
    /// Counts all entries below a directory.
    static func count(_ path: String) -> Int {
        let root = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return root < 0 ? 0 : walk(root)
    }

    private static func walk(_ descriptor: Int32) -> Int {
        guard let stream = unsafe fdopendir(descriptor) else { return 0 }
        defer { unsafe closedir(stream) }
        var count = 0
        var status = stat()
        while let entry = unsafe readdir(stream) {
            count += unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    if unsafe name[0] == 0x2E, unsafe name[1] == 0 || name[1] == 0x2E { return 0 }
                    guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
                    guard status.st_mode & S_IFMT == S_IFDIR else { return 1 }
                    return 1 + walk(unsafe openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
                }
            }
        }
        return count
    }
}
