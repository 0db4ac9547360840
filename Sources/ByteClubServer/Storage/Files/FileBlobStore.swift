import ByteClubCore
import Glibc

/// Contents as files named by their hashes: `ab/cdef…` for the hash `abcdef…`.
struct FileBlobStore: BlobStore {
    /// The directory of the contents.
    let root: String
    /// The directory where new ones are written; on the same file system.
    let staging: String
    /// What is left of the disk when it counts as full.
    let reserve: DiskReserve

    /// Makes both directories when they are missing.
    ///
    /// - Throws: ``StorageError`` as the system says.
    init(directory: String) throws {
        root = directory + "/blobs"
        staging = directory + "/staging"
        reserve = DiskReserve(directory, spare: SpareChunks(root: directory + "/chunks"))
        let isNew = try (Directory.make(root), Directory.make(staging))
        if isNew.0 || isNew.1 { try Directory.sync(directory) }
    }

    /// Looks at what is there, and makes nothing.
    init(existing directory: String) {
        root = directory + "/blobs"
        staging = directory + "/staging"
        reserve = DiskReserve(directory, spare: SpareChunks(root: directory + "/chunks"))
    }

    func writer() async throws -> any BlobWriter {
        FileBlobWriter(path: staging + "/" + Secret.text(bytes: 16), reserve: reserve)
    }

    func blob(_ hash: ContentHash, length: Int64) -> any Blob { FileBlob(path: path(of: hash), length: length) }

    func has(_ hash: ContentHash, length: Int64) -> Bool { Directory.fileLength(path(of: hash)) == length }

    func publication() -> any BlobPublication { FilePublication(store: self) }

    func contents(beginning byte: UInt8) async throws -> [ContentHash] {
        let folder = Hexadecimal.encode([byte])
        let path = root + "/" + folder
        return try await ContentPipeline.onDisk {
            guard unsafe access(path, F_OK) == 0 else { return [] }
            return try Directory.names(in: path).compactMap { ContentHash(folder + $0) }
        }
    }

    func remove(_ hash: ContentHash) { unsafe unlink(path(of: hash)) }

    /// The file that holds a content, whether or not it is there.
    func path(of hash: ContentHash) -> String {
        directory(of: hash) + "/" + Hexadecimal.encode(hash.bytes.dropFirst())
    }

    /// The directory of a content.
    func directory(of hash: ContentHash) -> String {
        root + "/" + Hexadecimal.encode(hash.bytes.prefix(1))
    }

    /// Where an upload in pieces collects its bytes.
    func uploadPath(_ id: String) -> String { staging + "/upload-" + id }
}
