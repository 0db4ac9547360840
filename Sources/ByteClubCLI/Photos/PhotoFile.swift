import ByteClubCore
import ByteClubMedia
import Glibc

/// A photo on this machine.
enum PhotoFile {
    /// Whether a name has a suffix of JPEG files.
    static func isNamed(_ name: String) -> Bool {
        let name = PathKey.fold(name)
        return name.hasSuffix(".jpg") || name.hasSuffix(".jpeg")
    }

    /// The name of a file on the server, where photos are recognised by their suffix.
    static func serverName(of file: String) -> String {
        let name = LocalFile.name(of: file)
        return isNamed(name) ? name : name + ".jpg"
    }

    /// The failure for a file whose name, or folder's name, is invalid on the server.
    static func refusal(of file: String, _ error: PathError) -> Failure {
        Failure(.badData, "'\(Failure.line(file))' cannot be uploaded under this name: \(error.message)")
    }

    /// Checks that a file is a JPEG, and returns whether the picture is complete.
    static func check(_ file: String) async throws -> Bool {
        if LocalFile.isDirectory(file) { throw Failure(.badData, "no JPEG photo in '\(file)'") }
        _ = try LocalFile.size(file)
        return try await BlockingWork.run {
            do { return try JPEGHeader(file: file).hasEnd(file: file) } catch let error as MediaError {
                let kind = error.code == .notAJPEG ? "a JPEG photo" : "a usable JPEG photo: \(error)"
                throw Failure(.badData, "'\(file)' is not \(kind)")
            }
        }
    }

    /// Writes a changed copy of a photo; `change` is for messages.
    static func change(_ file: String, _ change: String, _ work: @escaping @Sendable () throws -> Void) async throws {
        try await BlockingWork.run {
            do { try work() } catch let error as MediaError {
                throw Failure(.badData, "'\(file)' cannot be \(change): \(error)")
            }
        }
    }

    /// A name for a temporary photo in a private directory.
    static func temporary(in state: String) throws -> String {
        let directory = state + "/reencoded"
        try LocalFile.makePrivateDirectory(directory)
        return LocalFile.temporaryName(beside: directory + "/photo.jpg")
    }
}

/// Changes to a photo before its upload.
struct PhotoChange: Hashable, Codable, Sendable {
    /// The JPEG quality, 1 to 100; nil to keep the bytes.
    var quality: Int?
    /// Whether to remove position, camera and maker notes.
    var stripsPlace = false

    /// Whether its bytes stay as they are.
    var isNone: Bool { quality == nil && !stripsPlace }

    /// Writes the changed photo to a new file.
    func apply(to file: String, writing copy: String) async throws {
        if let quality {
            try await PhotoFile.change(file, "re-encoded") {
                try Reencoder.reencode(file: file, quality: quality, to: copy)
            }
        }
        guard stripsPlace else { return }
        let source = quality == nil ? file : copy
        try await PhotoFile.change(source, "copied without its location") {
            try ShareCopy.write(file: source, to: copy, keepsDate: true)
        }
    }
}
