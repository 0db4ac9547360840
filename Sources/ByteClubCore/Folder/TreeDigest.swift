import Crypto

/// A digest that two trees share exactly when they hold the same names and contents below a folder.
///
/// A folder's digest is the SHA-256 of its children's parts, ordered by the bytes of their names' keys. A child's part
/// is a byte, `f` for a file and `d` for a folder; the length of its name in UTF-8 as four bytes, the highest first;
/// the name; and 32 bytes: a file's content hash, or a folder's digest. An empty folder's digest is that of no bytes.
public struct TreeDigest: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    fileprivate init(_ hasher: SHA256) {
        bytes = Array(hasher.finalize())
    }

    /// Reads 32 bytes; nil when there are more or fewer.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// The digest as 64 lower-case hexadecimal digits.
    public var description: String { Hexadecimal.encode(bytes) }
}

extension TreeDigest: JSONTextReadable {
    /// Reads 64 hexadecimal digits; nil when the text is anything else.
    public init?(_ text: String) {
        guard let bytes = Hexadecimal.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    static var jsonForm: String { "a digest" }
}

/// Computes the digests of a tree's folders from its entries in the order of their keys, one path deep in memory.
public struct TreeDigester {
    private struct Folder {
        let path: RemotePath
        var hasher = SHA256()
    }

    private var open: [Folder]
    private let onDigest: (RemotePath, TreeDigest) -> Void

    /// Starts at a folder; `onDigest` is called for each folder below it once that is complete.
    public init(at path: RemotePath, telling onDigest: @escaping (RemotePath, TreeDigest) -> Void = { _, _ in }) {
        open = [Folder(path: path)]
        self.onDigest = onDigest
    }

    /// Adds a file.
    public mutating func add(file path: RemotePath, hash: ContentHash) {
        close(until: path)
        add(UInt8(ascii: "f"), path.name, hash.bytes)
    }

    /// Adds a folder; its entries come next.
    public mutating func add(folder path: RemotePath) {
        close(until: path)
        open.append(Folder(path: path))
    }

    /// The digest of the folder at which it started.
    public mutating func finish() -> TreeDigest {
        while open.count > 1 { closeLast() }
        return TreeDigest(open[0].hasher)
    }

    private mutating func close(until path: RemotePath) {
        while open.count > 1, !path.key.isBelow(open[open.count - 1].path.key) { closeLast() }
    }

    private mutating func closeLast() {
        let folder = open.removeLast()
        let digest = TreeDigest(folder.hasher)
        onDigest(folder.path, digest)
        add(UInt8(ascii: "d"), folder.path.name, digest.bytes)
    }

    private mutating func add(_ kind: UInt8, _ name: String, _ digest: [UInt8]) {
        let name = Array(name.utf8)
        let length = UInt32(truncatingIfNeeded: name.count)
        let prefix = [kind] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
        open[open.count - 1].hasher.update(data: prefix + name + digest)
    }
}
