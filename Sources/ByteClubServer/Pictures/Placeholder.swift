import ByteClubCore
import ByteClubMedia
import NIOPosix

/// A few colours that a page shows until a photo is there: four across and three down, from the top left, each in two
/// bytes with five bits of red, six of green and five of blue.
enum Placeholder {
    /// Colours across.
    static let width = 4
    /// Colours down.
    static let height = 3

    /// The colours of a JPEG; nil for one that cannot be decoded.
    ///
    /// Blocks for the decoding.
    static func make(of jpeg: [UInt8]) -> [UInt8]? {
        guard let picture = try? Picture(jpeg: jpeg).fitted(width: width, height: height) else { return nil }
        return (0..<width * height).flatMap { index -> [UInt8] in
            let (red, green, blue) = (
                UInt16(picture.rgb[3 * index]), UInt16(picture.rgb[3 * index + 1]), UInt16(picture.rgb[3 * index + 2])
            )
            let colour = (red >> 3) << 11 | (green >> 2) << 5 | blue >> 3
            return [UInt8(colour >> 8), UInt8(colour & 255)]
        }
    }
}

extension PictureStore {
    /// The placeholders of contents whose smallest previews are there.
    func placeholders(of hashes: [ContentHash]) async throws -> [ContentHash: [UInt8]] {
        try await threads.runIfActive {
            var made: [ContentHash: [UInt8]] = [:]
            for hash in hashes { made[hash] = smallestPreview(of: hash).flatMap { Placeholder.make(of: $0) } }
            return made
        }
    }
}
