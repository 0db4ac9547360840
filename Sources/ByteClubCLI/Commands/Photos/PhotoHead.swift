import ByteClubCore
import ByteClubMedia

/// What comes before the picture of a photo on the server.
enum PhotoHead {
    /// What is asked for at first: most photos have all their tags in it.
    private static let first = 256 << 10
    /// What is read at most, of a photo with sounds and further pictures in its tags.
    private static let most = 32 << 20

    /// Reads a photo's first bytes, more of them as long as its picture has not begun, and what they say of it; nil when
    /// they are no JPEG's.
    ///
    /// - Throws: A ``RemoteError``.
    static func read(of photo: Metadata, _ remote: any Remote) async throws -> (bytes: [UInt8], header: JPEGHeader)? {
        var head: [UInt8] = []
        var wanted = first
        while true {
            let range = Int64(head.count)..<min(photo.bytes, Int64(wanted))
            head += try await remote.content(
                at: photo.path, revision: photo.rev, range: range, limit: wanted - head.count
            ).bytes
            do {
                return (head, try JPEGHeader(bytes: head))
            } catch {
                // A damaged photo is one that ends too early, too: as this one does as far as it is known.
                guard error.code == .damaged, head.count == wanted, wanted < photo.bytes, wanted < most else {
                    return nil
                }
                wanted *= 4
            }
        }
    }
}
