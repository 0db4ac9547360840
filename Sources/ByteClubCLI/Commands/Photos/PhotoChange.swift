import Glibc

/// What is changed in a photo before it is sent.
struct PhotoChange: Hashable, Codable, Sendable {
    /// The quality to encode it with, 1 to 100; nil for its own bytes.
    var quality: Int?
    /// Whether the place, the camera and its notes are left out.
    var stripsPlace = false

    /// Whether its bytes stay as they are.
    var isNone: Bool { quality == nil && !stripsPlace }

    /// Writes the changed photo to a new file.
    func apply(to file: String, writing copy: String) async throws {
        if let quality { try await PhotoFile.reencode(file, quality: quality, to: copy) }
        if stripsPlace { try await PhotoFile.strip(quality == nil ? file : copy, to: copy) }
    }
}
