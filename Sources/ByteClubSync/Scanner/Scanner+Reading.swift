import ByteClubCore
import Glibc

extension Scanner {
    /// The result of reading a file.
    enum Reading: Hashable, Sendable {
        /// The content's hash, and the file's stat, which was the same before and after. With a racy stat, the hash
        /// must be checked again later.
        case content(ContentHash, FileStat)
        /// It is being written, or was written meanwhile.
        case busy
        /// It is not where the tree has it.
        case vanished
        /// It cannot be read.
        case problem(FileError)
    }

    private static let bufferSize = 256 << 10

    /// Reads and hashes a file of the tree.
    ///
    /// - Throws: The store's errors; what the disk refuses is in the result.
    func readHash(of item: ItemID) throws -> Reading {
        guard let location = try store.item(item)?.local?.location else { return .vanished }
        let name = location.name.text
        do {
            let folder = try FolderHandles(root: root, tree: store).folder(location.parent)
            guard let entry = try folder.entry(name), entry.kind == .file else { return .vanished }
            let file = try folder.open(name)
            let stat = try file.stat()
            if file.isBeingWritten { return .busy }
            let hash = try Self.hash(file)
            // The name may refer to another file by now, as when an editor renames one over it.
            guard let after = try folder.entry(name), after.kind == .file else { return .vanished }
            let isSame = after.stat.handle == stat.handle && after.stat.fingerprint.isUntouched(since: stat.fingerprint)
            return isSame ? .content(hash, stat) : .busy
        } catch let error as FileError {
            return error.isMissing ? .vanished : .problem(error)
        }
    }

    /// The hash of a file's content, in constant memory.
    static func hash(_ file: any DiskFile) throws(FileError) -> ContentHash {
        var hasher = ContentHasher()
        var buffer = [UInt8](repeating: 0, count: bufferSize)
        var offset: Int64 = 0
        while true {
            let count = try file.read(into: &buffer, at: offset)
            unsafe buffer.withUnsafeBytes { unsafe hasher.update(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
            if count < buffer.count { return hasher.finalize() }
            offset += Int64(count)
        }
    }
}
