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
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT ? .missing : .unreadable(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return .unreadable(errno) }
        guard status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) <= Int64(limit) + Int64(headCount) else {
            return .damaged
        }
        let size = Int(status.st_size)
        var code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size, let start = buffer.baseAddress {
                let got = unsafe Glibc.read(descriptor, start + count, size - count)
                if got == 0 { break }
                if got > 0 {
                    count += got
                } else if errno != EINTR {
                    code = errno
                    break
                }
            }
        }
        if code != 0 { return .unreadable(code) }
        guard bytes.count == size, let content = content(of: bytes, kind: kind) else { return .damaged }
        return .whole(content)
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
        let temporary = "\(folder(of: path))\(temporaryPrefix)\(number)\(temporarySuffix)"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        var code = writeAll(head(of: content[...], kind: kind), to: descriptor)
        if code == 0 { code = writeAll(content, to: descriptor) }
        if code == 0, isDurable, fsync(descriptor) != 0 { code = errno }
        if close(descriptor) != 0, code == 0 { code = errno }
        if code == 0, unsafe rename(temporary, path) != 0 { code = errno }
        guard code == 0 else {
            unsafe unlink(temporary)
            throw Self.failure(path, code)
        }
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
        let code = Durable.syncFolder(of: path)
        guard code == 0 else { throw Self.failure(path, code) }
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
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

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        unsafe bytes.withUnsafeBytes { all in
            var rest = unsafe all
            while let start = rest.baseAddress, rest.count > 0 {
                let count = unsafe Glibc.write(descriptor, start, rest.count)
                if count >= 0 {
                    unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> Failure {
        Failure(message: "\(path) cannot be written: \(systemMessage(code))")
    }
}
