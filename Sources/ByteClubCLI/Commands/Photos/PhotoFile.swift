import ByteClubCore
import ByteClubMedia

/// A photo on this machine.
enum PhotoFile {
    /// Whether a name is one of a JPEG.
    static func isNamed(_ name: String) -> Bool {
        let name = PathKey.fold(name)
        return name.hasSuffix(".jpg") || name.hasSuffix(".jpeg")
    }

    /// The JPEGs that a person means: a file itself, and all in a folder and below it, in the order of their names.
    ///
    /// A folder without any stands for itself, so that it is refused by its name.
    static func all(in file: String) -> [String] {
        guard LocalFile.isDirectory(file) else { return [file] }
        let photos = photos(below: file.hasSuffix("/") ? String(file.dropLast()) : file)
        return photos.isEmpty ? [file] : photos
    }

    private static func photos(below folder: String) -> [String] {
        let names = LocalFile.names(in: folder).filter { !$0.hasPrefix(".") }.sorted(by: NaturalOrder.precedes)
        return names.flatMap { name in
            let path = folder + "/" + name
            // A link to a folder may lead back to where one is.
            if LocalFile.isDirectory(path) { return LocalFile.isLink(path) ? [] : photos(below: path) }
            return isNamed(name) ? [path] : []
        }
    }

    /// The name that a file has on the server, where a photo is told by its suffix.
    static func serverName(of file: String) -> String {
        let name = LocalFile.name(of: file)
        return isNamed(name) ? name : name + ".jpg"
    }

    /// Checks that a file is a JPEG, and tells whether the picture comes to its end.
    static func check(_ file: String) async throws -> Bool {
        if LocalFile.isDirectory(file) { throw Failure(.badData, "there is no JPEG photo in '\(file)'") }
        _ = try LocalFile.size(file)
        return try await BlockingWork.run {
            do { return try JPEGHeader(file: file).hasEnd(file: file) } catch let error as MediaError {
                let reason = error.code == .notAJPEG ? "" : ": \(error)"
                throw Failure(.badData, "'\(file)' is not a JPEG photo\(reason)")
            }
        }
    }

    /// Encodes a photo anew.
    static func reencode(_ file: String, quality: Int, to temporary: String) async throws {
        try await BlockingWork.run {
            do { try Reencoder.reencode(file: file, quality: quality, to: temporary) } catch let error as MediaError {
                throw Failure(.badData, "'\(file)' cannot be encoded anew: \(error)")
            }
        }
    }

    /// Copies a photo without where, with what and by whom it was taken; the picture and the date stay.
    static func strip(_ file: String, to temporary: String) async throws {
        try await BlockingWork.run {
            do { try ShareCopy.write(file: file, to: temporary, keepsDate: true) } catch let error as MediaError {
                throw Failure(.badData, "'\(file)' cannot be copied without its place: \(error)")
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
