import ByteClubCore
import ByteClubMedia

/// A photo on this machine.
enum PhotoFile {
    /// Whether a name is one of a JPEG.
    static func isNamed(_ name: String) -> Bool {
        let name = PathKey.fold(name)
        return name.hasSuffix(".jpg") || name.hasSuffix(".jpeg")
    }

    /// The name that a file has on the server, where a photo is told by its suffix.
    static func serverName(of file: String) -> String {
        let name = LocalFile.name(of: file)
        return isNamed(name) ? name : name + ".jpg"
    }

    /// The refusal for a file that cannot be stored under its name, or in a folder of its folder's name.
    static func refusal(of file: String, _ error: PathError) -> Failure {
        Failure(.badData, "'\(Failure.line(file))' cannot be uploaded under this name: \(error.message)")
    }

    /// Checks that a file is a JPEG, and tells whether the picture comes to its end.
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

    /// Encodes a photo anew.
    static func reencode(_ file: String, quality: Int, to temporary: String) async throws {
        try await BlockingWork.run {
            do { try Reencoder.reencode(file: file, quality: quality, to: temporary) } catch let error as MediaError {
                throw Failure(.badData, "'\(file)' cannot be re-encoded: \(error)")
            }
        }
    }

    /// Copies a photo without where, with what and by whom it was taken; the picture and the date stay.
    static func strip(_ file: String, to temporary: String) async throws {
        try await BlockingWork.run {
            do { try ShareCopy.write(file: file, to: temporary, keepsDate: true) } catch let error as MediaError {
                throw Failure(.badData, "'\(file)' cannot be copied without its location: \(error)")
            }
        }
    }

    /// A name for a photo that is made here and is not to stay, in a private directory.
    static func temporary(in state: String) throws -> String {
        let directory = state + "/reencoded"
        try LocalFile.makePrivateDirectory(directory)
        return LocalFile.temporaryName(beside: directory + "/photo.jpg")
    }
}
