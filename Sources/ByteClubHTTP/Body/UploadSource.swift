import Glibc

/// The source of a request's body, which can be read again from any offset, except for a stream.
///
/// Used only on the loop's thread.
final class UploadSource {
    /// The error of a read.
    struct Failure: Error {
        var code: TransferError.Code
        var message: String
        var errno: Int32 = 0
    }

    /// The total length in bytes; -1 for a stream of unknown length.
    let length: Int64
    private(set) var offset: Int64 = 0
    private let content: Content

    private enum Content {
        case segments([Segment])
        case stream(StreamFeed)
    }

    private struct Segment {
        enum Origin {
            case bytes([UInt8])
            case file(UploadFile)
        }

        let origin: Origin
        /// Its range in the body.
        let start: Int64
        let end: Int64
    }

    /// Opens the body; a stream calls `notify`, from any thread, when bytes arrive after it had none.
    ///
    /// - Throws: If a file cannot be read or is too short.
    init(_ body: Body, notify: @escaping @Sendable () -> Void = {}) throws(Failure) {
        let parts: [BodyPart]
        switch body {
        case .none: parts = []
        case .bytes(let bytes): parts = [.bytes(bytes)]
        case .file(let path, let offset, let length): parts = [.file(path: path, offset: offset, length: length)]
        case .parts(let several): parts = several
        case .multipart(let form): parts = form.parts
        case .stream(let stream):
            content = .stream(StreamFeed(stream, notify: notify))
            length = stream.length ?? -1
            return
        }
        var segments: [Segment] = []
        for part in parts {
            let start = segments.last?.end ?? 0
            switch part {
            case .bytes(let bytes):
                segments.append(Segment(origin: .bytes(bytes), start: start, end: start + Int64(bytes.count)))
            case .file(let path, let offset, let length):
                let file = try UploadFile(path: path, offset: offset, length: length)
                // Only the file being read is open, however many there are.
                if parts.count > 1 { file.release() }
                segments.append(Segment(origin: .file(file), start: start, end: start + file.length))
            }
        }
        content = .segments(segments)
        length = segments.last?.end ?? 0
    }

    deinit { if case .stream(let feed) = content { feed.close() } }

    /// The maximum number of remaining bytes.
    var remaining: Int64 { length < 0 ? .max : length - offset }

    /// The body if it is small and in memory; nil otherwise, and for an empty one.
    func bytes(atMost limit: Int64) -> [UInt8]? {
        guard case .segments(let segments) = content, (1...limit).contains(length) else { return nil }
        var all: [UInt8] = []
        for segment in segments {
            guard case .bytes(let bytes) = segment.origin else { return nil }
            if segments.count == 1 { return bytes }
            all += bytes
        }
        return all
    }

    /// Moves to an offset in the body; false if it does not exist or was already consumed.
    func seek(to offset: Int64) -> Bool {
        guard case .segments = content else { return offset == self.offset }
        guard (0...length).contains(offset) else { return false }
        self.offset = offset
        return true
    }

    /// Reads into the buffer, possibly less than its size; 0 at the end of the body, nil if a stream has no bytes yet.
    ///
    /// The last bytes of a file are returned only if the file has not changed, so that no server accepts a mixed
    /// version as complete.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int? {
        let count: Int?
        switch content {
        case .segments(let segments): count = try unsafe read(segments, into: buffer)
        case .stream(let feed): count = try unsafe read(feed, into: buffer)
        }
        offset += Int64(count ?? 0)
        return count
    }

    private func read(_ segments: [Segment], into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        guard let segment = Self.segment(of: segments, at: offset), let target = buffer.baseAddress else { return 0 }
        let wanted = Int(min(Int64(buffer.count), segment.end - offset))
        let position = offset - segment.start
        switch segment.origin {
        case .bytes(let bytes):
            unsafe bytes.withUnsafeBytes { all in
                if let start = all.baseAddress { unsafe memcpy(target, start + Int(position), wanted) }
            }
            if segment.end == length { try verify() }
            return wanted
        case .file(let file):
            let count = try unsafe file.read(
                into: UnsafeMutableRawBufferPointer(start: target, count: wanted), at: position)
            if offset + Int64(count) == segment.end {
                try file.verify()
                if segments.count > 1 { file.release() }
            }
            return count
        }
    }

    private func read(_ feed: StreamFeed, into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int? {
        let wanted = Int(min(Int64(buffer.count), remaining))
        if wanted == 0 { return 0 }
        switch unsafe feed.take(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])) {
        case .bytes(let count): return count
        case .later: return nil
        case .end:
            guard length < 0 || remaining == 0 else {
                throw Failure(code: .bodyFailed, message: "the body's stream ended after \(offset) of \(length) bytes")
            }
            return 0
        case .failure(let reason): throw Failure(code: .bodyFailed, message: "the body's stream failed: \(reason)")
        }
    }

    /// Fails if a file of the body was changed or replaced.
    func verify() throws(Failure) {
        guard case .segments(let segments) = content else { return }
        for segment in segments { if case .file(let file) = segment.origin { try file.verify() } }
    }

    /// The segment that contains an offset, by binary search; nil at the end.
    private static func segment(of segments: [Segment], at offset: Int64) -> Segment? {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].end <= offset { low = middle + 1 } else { high = middle }
        }
        return low < segments.count ? segments[low] : nil
    }
}
