import ByteClubCore
import GRDB
import Glibc

/// The texts of contents, small and large ones, as one transaction of the database sees them.
struct TextSource {
    /// How many bytes of a file tell whether it may be a text.
    private static let sample = 4096

    let database: Database
    let files: FileBlobStore

    /// What a content says; nil when it is no text that is searched, or is lost.
    func text(_ hash: ContentHash) throws -> String? {
        let bytes = try database.firstRow("SELECT bytes FROM content WHERE hash = ?", [hash.data]) { $0.bytes(0) ?? [] }
        return (bytes ?? file(hash)).flatMap { FoldedText.text($0) }
    }

    private func file(_ hash: ContentHash) -> [UInt8]? {
        let path = files.path(of: hash)
        guard let length = Directory.fileLength(path), length <= Int64(FoldedText.maximumBytes) else { return nil }
        // What cannot be read is searched for by its name alone: nothing else should wait for it.
        guard let file = try? Descriptor(path: path, flags: O_RDONLY),
            let start = try? file.read(Self.sample, at: 0), !start.contains(0)
        else { return nil }
        return try? file.read(Int(length), at: 0)
    }
}
