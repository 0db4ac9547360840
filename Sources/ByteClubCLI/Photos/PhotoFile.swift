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

    /// Encodes a photo with another quality.
    static func reencode(_ file: String, quality: Int, to temporary: String) async throws {
        try await BlockingWork.run {
            do { try Reencoder.reencode(file: file, quality: quality, to: temporary) } catch let error as MediaError {
                throw Failure(.badData, "'\(file)' cannot be re-encoded: \(error)")
            }
        }
    }

    /// Copies a photo without its position, camera and author; picture and date are kept.
    static func strip(_ file: String, to temporary: String) async throws {
        try await BlockingWork.run {
            do { try ShareCopy.write(file: file, to: temporary, keepsDate: true) } catch let error as MediaError {
                throw Failure(.badData, "'\(file)' cannot be copied without its location: \(error)")
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
        if let quality { try await PhotoFile.reencode(file, quality: quality, to: copy) }
        if stripsPlace { try await PhotoFile.strip(quality == nil ? file : copy, to: copy) }
    }
}
