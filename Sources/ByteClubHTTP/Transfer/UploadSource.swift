import Glibc

/// Where a request's body is read from, by offset, so that it can be read again.
///
/// Belongs to the loop's thread.
final class UploadSource {
    /// How a read ended when it brought no bytes.
    struct Failure: Error {
        var code: TransferError.Code
        var message: String
        var errno: Int32 = 0
    }

    let length: Int64
    private(set) var offset: Int64 = 0
    private let content: Content

    private enum Content {
        case bytes([UInt8])
        case file(UploadFile)
    }

    /// Opens the body; nil when there is none to send.
    init(_ body: Body) throws(Failure) {
        switch body {
        case .none:
            content = .bytes([])
            length = 0
        case .bytes(let bytes):
            content = .bytes(bytes)
            length = Int64(bytes.count)
        case .file(let path, let offset, let count):
            let file = try UploadFile(path: path, offset: offset, length: count)
            content = .file(file)
            length = file.length
        }
    }

    /// The body, when it is in memory and small; nil when there is none.
    func bytes(atMost limit: Int64) -> [UInt8]? {
        guard case .bytes(let bytes) = content, (1...limit).contains(length) else { return nil }
        return bytes
    }

    /// Moves to an offset from the body's begin; false if there is none such.
    func seek(to offset: Int64) -> Bool {
        guard (0...length).contains(offset) else { return false }
        self.offset = offset
        return true
    }

    /// Fills the buffer as far as the body goes; 0 at its end.
    ///
    /// The last bytes of a file are only given out if the file has not changed, so that no server takes a torn one
    /// for whole.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        let wanted = Int(min(Int64(buffer.count), length - offset))
        guard wanted > 0, let target = buffer.baseAddress else { return 0 }
        var count = wanted
        switch content {
        case .bytes(let bytes):
            unsafe bytes.withUnsafeBytes { all in
                if let start = all.baseAddress { unsafe memcpy(target, start + Int(offset), wanted) }
            }
        case .file(let file):
            count = try unsafe file.read(into: UnsafeMutableRawBufferPointer(start: target, count: wanted), at: offset)
            if offset + Int64(count) == length { try file.verify() }
        }
        offset += Int64(count)
        return count
    }

    /// Fails if the file behind the body is not the one that was opened, or changed.
    func verify() throws(Failure) {
        if case .file(let file) = content { try file.verify() }
    }
}
