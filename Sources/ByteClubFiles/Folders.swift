package import Glibc

/// The names of a folder's entries, without `.` and `..`, in no order.
@safe package final class FolderNames: Sequence, IteratorProtocol {
    private let folder: OpaquePointer

    /// Opens a folder.
    package init(_ path: String) throws(FileFailure) {
        guard let folder = unsafe opendir(path) else { throw FileFailure("read", path) }
        unsafe self.folder = folder
    }

    deinit { unsafe closedir(folder) }

    package func next() -> String? {
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { return name }
        }
        return nil
    }
}

/// Makes a folder and its missing parents.
///
/// - Throws: ``FileFailure`` with the folder that cannot be made.
package func makeFolders(_ path: String, mode: mode_t, for operation: String) throws(FileFailure) {
    var built = path.hasPrefix("/") ? "" : "."
    for name in path.utf8.split(separator: UInt8(ascii: "/")) {
        built += "/" + String(Substring(name))
        if unsafe mkdir(built, mode) != 0, errno != EEXIST { throw FileFailure(operation, built) }
    }
}

/// A path with links resolved; nil when nothing is there.
package func resolvedPath(_ path: String) -> String? { unsafe text(realpath(path, nil)) }

/// The working folder, with links resolved; nil when it is gone, with the reason in `errno`.
package func workingFolder() -> String? { unsafe text(getcwd(nil, 0)) }

private func text(_ allocated: UnsafeMutablePointer<CChar>?) -> String? {
    defer { unsafe free(allocated) }
    return unsafe allocated.map { unsafe String(cString: $0) }
}

/// The first bytes of a file as text; nil when it cannot be read.
package func fileText(_ path: String, upTo count: Int) -> String? {
    let file = try? OwnedDescriptor<FileFailure>(path, O_RDONLY)
    return (try? file?.read(count, at: 0)).map { String(decoding: $0, as: UTF8.self) }
}

/// The folder of a path's last name.
package func parentFolder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
