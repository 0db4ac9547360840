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

/// The folder of a path's last name.
package func parentFolder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
