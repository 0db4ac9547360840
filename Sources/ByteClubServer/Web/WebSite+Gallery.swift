import ByteClubCore
import HTTPTypes
import NIOCore

extension WebSite {
    /// How long `GET /gallery/events` waits for a change.
    private static let wait = Duration.seconds(25)

    /// Reads the metadata of some photos while the member waits.
    func describe(_ photos: [FolderEntry], _ visit: Visit, _ member: Member) async throws -> [Metadata] {
        let (media, entries) = (media, photos.map { Metadata($0) })
        return try await visit.request.whileClientWaits {
            try await media.describe(entries, for: .member(member.uid))
        }
    }

    /// Reads the metadata of photos in the background, when it is the member's turn, for the next page.
    func lookInto(_ photos: [FolderEntry], for member: Member) {
        if photos.isEmpty { return }
        let media = media
        Task { _ = try? await media.describe(photos.map { Metadata($0) }, for: .member(member.uid)) }
    }

    /// The text for a photo without a caption.
    static func alternative(_ photo: PhotoTile, _ date: APIDate, _ place: String?) -> String {
        ([photo.isWide ? "Panorama" : "Photo", day(date)] + (place.map { [$0] } ?? [])).joined(separator: ", ")
    }

    /// A path in a URL.
    static func components(of path: RemotePath) -> String {
        path.components.map { "/" + PercentEncoding.encode($0) }.joined()
    }

    /// Where the page of a file is.
    static func url(of path: RemotePath) -> String {
        "/gallery" + components(of: path)
    }

    /// Reports a change to a page by one server-sent event, after which the browser asks again.
    ///
    /// So it costs the server no more than a long poll, and works behind proxies that buffer answers.
    func events(_ visit: Visit, _: Member) async throws -> Response {
        let told = HTTPField.Name("Last-Event-ID").flatMap { visit.request.headers[$0] } ?? visit["after"]
        let start = told.flatMap { Int64($0) } ?? 0
        let hasChanged = try await visit.request.waitForChange(in: store, after: start, atMost: Self.wait)
        try Task.checkCancellation()
        var text = "retry: 200\n"
        if hasChanged {
            let last = try await store.read { try $0.state.lastRevision() }
            text += "id: \(last)\nevent: change\ndata: \(last)\n\n"
        } else {
            text += ": no change\nid: \(start)\n\n"
        }
        return Response(
            .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: .bytes(ByteBuffer(string: text)))
    }
}
