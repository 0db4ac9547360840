import Glibc

extension LocalContent {
    /// Lets a closure read the content from a file: its own, or one that is made for the time in a folder.
    ///
    /// Blocks for storage.
    ///
    /// - Throws: ``StorageError`` when the file cannot be made; what the closure throws.
    func withFile<T>(in scratch: String, _ body: (String) throws -> T) throws -> T {
        switch self {
        case .file(let path): return try body(path)
        case .bytes(let bytes):
            unsafe mkdir(scratch, 0o700)
            var template = Array((scratch + "/.source-XXXXXX").utf8CString)
            let descriptor = unsafe mkstemp(&template)
            guard descriptor >= 0 else { throw StorageError(errno: errno, "cannot copy stored content") }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            defer { unsafe unlink(path) }
            let count = unsafe write(descriptor, bytes, bytes.count)
            close(descriptor)
            guard count == bytes.count else { throw StorageError(.full, "no space for a copy of stored content") }
            return try body(path)
        }
    }
}
