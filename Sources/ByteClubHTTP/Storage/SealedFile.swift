import Glibc

/// A file that is there whole or not at all, and whose damage is noticed at any byte.
///
/// It begins with a mark, its kind, the length of its content and a checksum of it. The checksum tells damage, not
/// forgery: the file belongs to the user alone (mode 0600).
enum SealedFile {
    /// What is in the place of a file.
    enum Content {
        case missing
        /// Something else, or not what was written.
        case damaged
        /// It may be there, but cannot be read: the system's error number.
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
    ///   - kind: Eight bytes of ASCII that say what is in it.
    ///   - limit: The longest content that can be right.
    /// - Returns: What is there.
    static func read(_ path: String, kind: String, limit: Int) -> Content {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT ? .missing : .unreadable(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return .unreadable(errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size >= headCount,
            Int64(status.st_size) <= Int64(limit) + Int64(headCount)
        else { return .damaged }
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
        guard bytes.count == size else { return .damaged }
        let content = bytes[headCount...]
        return bytes[..<headCount].elementsEqual(head(of: content, kind: kind)) ? .whole(content) : .damaged
    }

    /// Replaces a file in one step; blocks.
    ///
    /// - Parameters:
    ///   - content: What is in it from then on.
    ///   - kind: See ``read(_:kind:limit:)``.
    ///   - path: The file.
    ///   - isDurable: Whether it must outlive a power cut; if not, it may be damaged by one, and so is the file before.
    /// - Throws: When it cannot be written; then the file is as it was.
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

    /// Whether a file is called as one that is being written, or was when its program was killed.
    static func isHalfWritten(_ name: String) -> Bool {
        name.hasPrefix(temporaryPrefix) && name.hasSuffix(temporarySuffix)
    }

    /// Has what was renamed, made or removed beside a file outlive a power cut; blocks.
    ///
    /// - Throws: When the system says that it cannot be promised.
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

    /// Every step maps different words to different sums, so no single changed byte goes unnoticed.
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
