public import ByteClubCore
import Glibc

/// What a folder holds, by path below it: what two mirrors are compared by.
///
/// The entry `.byteclub` at the top, where a mirror keeps its own things, is left out.
public struct FileTree: Hashable, Sendable {
    /// One entry.
    public enum Entry: Hashable, Sendable {
        /// A file with its length in bytes and its content's hash.
        case file(bytes: Int, hash: ContentHash)
        /// A folder.
        case folder
        /// A symbolic link and where it points.
        case link(String)
        /// Something else.
        case other
    }

    /// The entries by their paths, for example `photos/ridge.jpg`.
    public private(set) var entries: [String: Entry] = [:]

    /// Reads a folder with all below it, following no link.
    public init(_ root: String) {
        read(root, "")
    }

    /// The paths of the files.
    public var files: [String] {
        entries.compactMap { path, entry in
            if case .file = entry { path } else { nil }
        }.sorted()
    }

    /// What differs, one line each and twenty at most, for a failed expectation.
    public func difference(from other: FileTree) -> [String] {
        let paths = Set(entries.keys).union(other.entries.keys).sorted()
        return Array(
            paths.filter { entries[$0] != other.entries[$0] }
                .map { "\($0): \(Self.text(entries[$0])) / \(Self.text(other.entries[$0]))" }.prefix(20))
    }

    private static func text(_ entry: Entry?) -> String {
        switch entry {
        case .file(let bytes, let hash): "\(bytes) bytes \(hash.description.prefix(8))"
        case .folder: "folder"
        case .link(let target): "link to \(target)"
        case .other: "special"
        case nil: "nothing"
        }
    }

    /// All paths below a folder, sorted, without those that are left out and what is in them.
    public static func paths(below root: String, leavingOut left: Set<String> = []) -> [String] {
        var paths: [String] = []
        var folders = [""]
        while let folder = folders.popLast() {
            for name in names(in: root + "/" + folder) ?? [] {
                let path = folder.isEmpty ? name : folder + "/" + name
                if left.contains(path) { continue }
                paths.append(path)
                var status = stat()
                guard unsafe lstat(root + "/" + path, &status) == 0 else { continue }
                if status.st_mode & S_IFMT == S_IFDIR { folders.append(path) }
            }
        }
        return paths.sorted()
    }

    /// The names in a folder, sorted; nil when it cannot be read.
    public static func names(in folder: String) -> [String]? {
        guard let directory = unsafe opendir(folder) else { return nil }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private mutating func read(_ root: String, _ below: String) {
        for name in Self.names(in: root + below) ?? [] {
            let path = below.isEmpty ? name : String(below.dropFirst()) + "/" + name
            if path == ".byteclub" { continue }
            let full = root + "/" + path
            var status = stat()
            guard unsafe lstat(full, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                entries[path] = .folder
                read(root, "/" + path)
            case S_IFREG:
                let bytes = Fixture.bytes(at: full)
                entries[path] = .file(bytes: bytes.count, hash: ContentHasher.hash(bytes))
            case S_IFLNK:
                var target = [CChar](repeating: 0, count: 4096)
                let count = unsafe readlink(full, &target, target.count)
                let bytes = target.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
                entries[path] = .link(String(decoding: bytes, as: UTF8.self))
            default: entries[path] = .other
            }
        }
    }
}
