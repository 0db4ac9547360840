import ByteClubCore
import ByteClubFiles
import ByteClubMedia
import Glibc

extension LocalContent {
    /// Passes the content to a closure as a file: its own, or a temporary one in a folder.
    ///
    /// Blocks for storage.
    ///
    /// - Throws: ``StorageError`` when the file cannot be made; errors of the closure.
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
            let file = OwnedDescriptor<FileFailure>(owning: descriptor, path: path)
            guard (try? file.write(bytes)) != nil else {
                throw StorageError(.full, "no space for a copy of stored content")
            }
            return try body(path)
        }
    }

    /// The shape of the picture; nil for a file that is neither a JPEG nor a PNG.
    ///
    /// - Throws: ``MediaError`` `io` when the storage fails.
    func shape() throws -> PhotoShape? {
        if let size = pngSize() { return PhotoShape(untagged: size) }
        do {
            let panorama: Panorama
            switch self {
            case .bytes(let bytes): panorama = Panorama(header: try JPEGHeader(bytes: bytes))
            case .file(let path): panorama = Panorama(header: try JPEGHeader(file: path))
            }
            return PhotoShape(panorama)
        } catch {
            if error.code == .io { throw error }
            return nil
        }
    }

    /// The size in the first chunk of a PNG (RFC 2083 section 4.1.1); nil for another file.
    private func pngSize() -> (width: Int, height: Int)? {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let head = start(24)
        guard head.count == 24, head.starts(with: signature), head[12..<16].elementsEqual("IHDR".utf8) else {
            return nil
        }
        let number = { (range: Range<Int>) in head[range].reduce(0) { $0 << 8 | Int($1) } }
        let (width, height) = (number(16..<20), number(20..<24))
        return width > 0 && height > 0 ? (width, height) : nil
    }

    /// The first bytes, fewer when there are fewer or they cannot be read.
    func start(_ count: Int) -> [UInt8] {
        switch self {
        case .bytes(let bytes): return Array(bytes.prefix(count))
        case .file(let path):
            let file = try? OwnedDescriptor<FileFailure>(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            return (try? file?.read(count, at: 0)) ?? []
        }
    }
}

extension PhotoShape {
    /// Converts a result of the media library.
    init(_ panorama: Panorama) {
        self.init(
            kind: Kind(rawValue: panorama.kind.rawValue) ?? .flat, width: panorama.seenWidth,
            height: panorama.seenHeight, hFOV: panorama.hFOV, vFOV: panorama.vFOV, yaw: panorama.yaw,
            pitch: panorama.pitch, heading: panorama.heading, isEstimate: panorama.isEstimate)
    }

    /// The shape of a picture without metadata: long ones count as panned.
    init(untagged size: (width: Int, height: Int)) {
        let isLong = max(size.width, size.height) / 2 >= min(size.width, size.height)
        self.init(kind: isLong ? .strip : .flat, width: size.width, height: size.height)
    }

    /// The shape of the photo when it is viewed as another kind.
    ///
    /// Angles that the photo does not have are those of a picture that covers a full circle, or fit its sides.
    func viewed(as kind: Kind) -> PhotoShape {
        guard kind != self.kind, width > 0, height > 0 else { return self }
        var shape = self
        shape.kind = kind
        let aspect = Double(width) / Double(height)
        switch kind {
        case .flat, .strip: break
        case .sphere: (shape.hFOV, shape.vFOV, shape.yaw, shape.pitch, shape.isEstimate) = (360, 180, 0, 0, false)
        case .partialSphere, .cylinder:
            if hFOV != nil, vFOV != nil { break }
            let across = hFOV ?? min(360, 180 * aspect)
            (shape.hFOV, shape.vFOV, shape.isEstimate) = (across, min(180, across / aspect), true)
        }
        return shape
    }
}
