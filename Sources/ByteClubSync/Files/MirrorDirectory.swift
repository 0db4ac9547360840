import ByteClubCore
import CLinux
import Glibc

/// The mirror's root on disk, and the way from it to anything inside: one directory at a time, never through a link.
final class MirrorDirectory: Sendable {
    /// The folder at the root that holds what is ours alone: staging, trash and the root's marker.
    static let privateName = ".byteclub"

    let root: FileDescriptor
    let device: Int64

    init(_ path: String) throws(FileError) {
        root = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
        device = Fingerprint(try root.status()).device
    }

    /// Opens a directory by its path below the root; the empty path is the root.
    func directory(_ path: String) throws(FileError) -> FileDescriptor {
        var current = root
        for name in path.utf8.split(separator: UInt8(ascii: "/")) {
            current = try current.directory(String(Substring(name)))
        }
        return current
    }

    /// What identifies the file system, the same after a restart where the file system has an identity of its own.
    var fileSystem: String {
        var status = CLinux.statfs()
        guard unsafe fstatfs(root.number, &status) == 0 else { return "\(device)" }
        let (first, second) = status.f_fsid.__val
        return first == 0 && second == 0 ? "\(device)" : "\(first).\(second)"
    }
}

/// Open directories that a batch of work goes through, so that each is walked to once.
///
/// It lives as long as its batch; a directory that is moved meanwhile is found out by the checks after each effect.
struct DirectoryWalk {
    private let mirror: MirrorDirectory
    private(set) var open: [String: FileDescriptor] = [:]

    init(_ mirror: MirrorDirectory) { self.mirror = mirror }

    /// The directory that holds an entry, and the entry's name in it.
    mutating func place(of path: String) throws(FileError) -> (directory: FileDescriptor, name: String) {
        let (parent, name) = LocalPath.split(path)
        return (try directory(parent), name)
    }

    /// The directory at a path.
    mutating func directory(_ path: String) throws(FileError) -> FileDescriptor {
        if let known = open[path] { return known }
        if open.count >= 128 { open.removeAll() }
        let found = try mirror.directory(path)
        open[path] = found
        return found
    }

    /// Forgets a directory that was removed or renamed, and all below it.
    mutating func forget(_ path: String) {
        open = open.filter { $0.key != path && !$0.key.utf8.starts(with: (path + "/").utf8) }
    }
}

/// Paths on disk relative to the mirror's root, without a slash at either end; names are the disk's own.
enum LocalPath {
    /// The folder's path and the last name.
    static func split(_ path: String) -> (parent: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
        return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
    }

    /// The path of an entry of a folder.
    static func join(_ folder: String, _ name: String) -> String { folder.isEmpty ? name : folder + "/" + name }
}
