import ByteClubFiles
import Glibc

/// The folder of a cache: an index file with the heads, and one file for each body.
///
/// A lock that ends with the process keeps other processes out. A damaged file counts as missing.
final class CacheFolder: Sendable {
    let path: String
    private let lock: OwnedDescriptor<FileFailure>

    private static let indexKind = "cachidx1"
    private static let bodyKind = "cachbdy1"
    private static let mostIndexBytes = 64 << 20

    /// Creates the folder if it is missing, and locks it.
    ///
    /// - Throws: A message for the user if the folder cannot be used.
    init(_ path: String) throws(SealedFile.Failure) {
        self.path = path
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw SealedFile.Failure(message: "\(path) cannot be made: \(systemMessage(errno))")
        }
        do throws(FileFailure) { lock = try OwnedDescriptor("\(path)/lock", O_RDWR | O_CREAT | O_NOFOLLOW) } catch {
            throw SealedFile.Failure(message: "\(path) cannot be used: \(error.reason)")
        }
        guard (try? lock.lock()) == true else {
            throw SealedFile.Failure(message: "\(path) is in use by another session's cache")
        }
    }

    /// Reads the index, least recently used first; empty if the file is missing or damaged.
    func readIndex() -> [(id: UInt64, length: Int, stored: StoredResponse)] {
        guard
            case .whole(let bytes) = SealedFile.read("\(path)/index", kind: Self.indexKind, limit: Self.mostIndexBytes)
        else { return [] }
        var reader = RecordReader(bytes)
        var result: [(UInt64, Int, StoredResponse)] = []
        do throws(RecordReader.Damage) {
            while !reader.isAtEnd {
                result.append(try reader.values())
            }
        } catch {
            return []
        }
        return result
    }

    func writeIndex(_ entries: [(id: UInt64, length: Int, stored: StoredResponse)]) throws(SealedFile.Failure) {
        var writer = RecordWriter()
        for (id, length, stored) in entries { writer.put(id, length, stored) }
        try SealedFile.write(writer.bytes, kind: Self.indexKind, to: "\(path)/index", isDurable: false)
    }

    /// Reads the body of an entry; nil if its file is missing, damaged, or belongs to another entry.
    func readBody(_ id: UInt64, url: String, length: Int) -> [UInt8]? {
        let limit = length + url.utf8.count + 64
        guard case .whole(let bytes) = SealedFile.read(file(id), kind: Self.bodyKind, limit: limit) else { return nil }
        var reader = RecordReader(bytes)
        guard let (ownID, ownURL) = try? reader.values() as (UInt64, String), ownID == id, ownURL == url,
            let body = try? reader.content(), body.count == length, reader.isAtEnd
        else { return nil }
        return Array(body)
    }

    func writeBody(_ id: UInt64, url: String, bytes: [UInt8]) throws(SealedFile.Failure) {
        var writer = RecordWriter()
        writer.put(id, url)
        writer.put(content: bytes)
        try SealedFile.write(writer.bytes, kind: Self.bodyKind, to: file(id), isDurable: false)
    }

    func removeBody(_ id: UInt64) { unsafe unlink(file(id)) }

    /// Removes files that no entry owns: bodies that never reached the index, and partly written files.
    func removeOthers(than ids: Set<UInt64>) {
        for name in (try? Array(FolderNames(path))) ?? [] {
            let isHalf = SealedFile.isHalfWritten(name)
            let isStray = name.hasSuffix(".body") && !(UInt64(name.dropLast(5), radix: 16).map(ids.contains) ?? false)
            if isHalf || isStray { unsafe unlink("\(path)/\(name)") }
        }
    }

    private func file(_ id: UInt64) -> String { "\(path)/\(String(id, radix: 16)).body" }
}
