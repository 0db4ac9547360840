import ByteClubFiles
import Glibc

/// A file that is replaced as a whole and detects damage in any byte.
///
/// It starts with a signature, its kind, the length of its content and a checksum. The checksum detects damage, not
/// forgery: the file belongs to the user alone (mode 0600).
enum SealedFile {
    /// The result of reading a file.
    enum Content {
        case missing
        /// It is not a sealed file of this kind, or was damaged.
        case damaged
        /// It cannot be read, with the system's error number.
        case unreadable(Int32)
        case whole(ArraySlice<UInt8>)
    }

    /// Why a file cannot be written.
    struct Failure: Error {
        var message: String
    }

    private static let temporaryPrefix = ".byteclub-"
    private static let temporarySuffix = ".new"
    private static let mark = Array("ByteHTTP".utf8)
    private static let headCount = 32

    /// Reads a file; blocks.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - kind: Eight ASCII characters that identify the content.
    ///   - limit: The maximum length of the content.
    /// - Returns: The content or the problem.
    static func read(_ path: String, kind: String, limit: Int) -> Content {
        do throws(FileFailure) {
            guard let (file, status) = try OwnedDescriptor<FileFailure>.regularFile(path, O_NOFOLLOW),
                status.size <= Int64(limit) + Int64(headCount)
            else { return .damaged }
            let size = Int(status.size)
            let bytes = try file.read(size, at: 0)
            guard bytes.count == size, let content = content(of: bytes, kind: kind) else { return .damaged }
            return .whole(content)
        } catch {
            return error.code == ENOENT ? .missing : .unreadable(error.code)
        }
    }

    /// Puts the signature, the kind, the length and the checksum before a content.
    static func sealed(_ content: [UInt8], kind: String) -> [UInt8] { head(of: content[...], kind: kind) + content }

    /// The content of sealed bytes; nil if they are damaged or of another kind.
    static func content(of bytes: [UInt8], kind: String) -> ArraySlice<UInt8>? {
        guard bytes.count >= headCount else { return nil }
        let content = bytes[headCount...]
        return bytes[..<headCount].elementsEqual(head(of: content, kind: kind)) ? content : nil
    }

    /// Replaces a file atomically; blocks.
    ///
    /// - Parameters:
    ///   - content: The new content.
    ///   - kind: See ``read(_:kind:limit:)``.
    ///   - path: The file.
    ///   - isDurable: Whether the new file must survive a power cut; if not, a power cut may damage it, and the old one
    ///     is lost as well.
    /// - Throws: If it cannot be written; the old file is then unchanged.
    static func write(_ content: [UInt8], kind: String, to path: String, isDurable: Bool) throws(Failure) {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        let temporary = "\(parentFolder(of: path))/\(temporaryPrefix)\(number)\(temporarySuffix)"
        var draft = try DraftFile<Failure>(temporary, shownAs: path)
        try draft.file.write(head(of: content[...], kind: kind))
        try draft.file.write(content)
        if isDurable { try draft.file.sync() }
        try draft.file.close()
        try draft.place(at: path)
    }

    /// Whether a name belongs to a temporary file of ``write(_:kind:to:isDurable:)``, which remains if the program is
    /// killed.
    static func isHalfWritten(_ name: String) -> Bool {
        name.hasPrefix(temporaryPrefix) && name.hasSuffix(temporarySuffix)
    }

    /// Makes earlier changes of a file's name survive a power cut; blocks.
    ///
    /// - Throws: If the system reports that syncing failed.
    static func syncFolder(of path: String) throws(Failure) {
        do throws(FileFailure) { try Durable.syncFolder(of: path) } catch {
            throw Failure(FileFailure("sync", path, error.code))
        }
    }

    private static func head(of content: ArraySlice<UInt8>, kind: String) -> [UInt8] {
        var writer = RecordWriter()
        writer.put(Int64(content.count))
        writer.put(Int64(bitPattern: checksum(content)))
        return mark + Array((kind + "        ").utf8.prefix(8)) + writer.bytes
    }

    /// Each step is injective, so every single-byte change alters the checksum.
    private static func checksum(_ content: ArraySlice<UInt8>) -> UInt64 {
        unsafe content.withUnsafeBytes { bytes in
            var sum: UInt64 = 0xCBF2_9CE4_8422_2325
            func add(_ word: UInt64) {
                let mixed = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
                sum = mixed << 31 | mixed >> 33
            }
            var offset = 0
            while offset + 8 <= bytes.count {
                add(unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset += 8
            }
            var last: UInt64 = 0
            while offset < bytes.count {
                last = unsafe last << 8 | UInt64(bytes[offset])
                offset += 1
            }
            add(last)
            return sum
        }
    }
}

extension SealedFile.Failure: FileFailureConvertible {
    init(_ failure: FileFailure) { self.init(message: "\(failure.path) cannot be written: \(failure.reason)") }
}
