import ByteClubCore
import Glibc

extension Scanner {
    /// What came of reading a file.
    enum Reading: Hashable, Sendable {
        /// Its content's hash, and how the file looked, before and after. A look that is racy holds for now only.
        case content(ContentHash, DiskLook)
        /// Somebody is writing it, or has written it meanwhile.
        case busy
        /// It is not where the tree has it.
        case vanished
        /// It cannot be read.
        case problem(FileError)
    }

    private static let bufferSize = 256 << 10

    /// Reads a file of the tree to its end.
    func readHash(of item: ItemID) throws -> Reading {
        guard let place = try store.item(item)?.local?.place else { return .vanished }
        let name = place.name.text
        do {
            let folder = try FolderWalk(root: root, tree: store).folder(place.parent)
            guard let entry = try folder.entry(name), entry.kind == .file else { return .vanished }
            let file = try folder.open(name)
            let look = try file.look()
            if file.isBeingWritten { return .busy }
            let hash = try Self.hash(file)
            // The name may lead to another file by now, as when an editor renames one over it.
            guard let after = try folder.entry(name), after.kind == .file else { return .vanished }
            let isSame = after.look.handle == look.handle && after.look.fingerprint.isUntouched(since: look.fingerprint)
            return isSame ? .content(hash, look) : .busy
        } catch let error as FileError {
            return error.isMissing ? .vanished : .problem(error)
        }
    }

    /// The hash of a file's content, in memory that does not grow with it.
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
