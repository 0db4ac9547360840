import ByteClubMedia

/// A photo on this machine.
enum PhotoFile {
    /// Checks that a file is a JPEG.
    static func check(_ file: String) async throws {
        _ = try LocalFile.size(file)
        try await BlockingWork.run {
            do { _ = try JPEGHeader(file: file) } catch let error as MediaError {
                throw Failure(.badData, "'\(file)' is not a JPEG photo: \(error)")
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

    /// A name for a photo that is encoded anew, in a private directory.
    static func temporary(in state: String) throws -> String {
        let directory = state + "/reencoded"
        try LocalFile.makePrivateDirectory(directory)
        return LocalFile.temporaryName(beside: directory + "/photo.jpg")
    }
}
