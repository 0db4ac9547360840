import ByteClubCore
import Crypto
import HTTPTypes
import NIOCore

/// A script, a style or a picture of the pages, which SwiftPM makes part of the program as it does with ``Template``s.
///
/// All of them are at `/assets/DIGEST/NAME`, with one digest over all, so that browsers keep them for good and scripts
/// import each other by relative addresses. Templates leave the digest out, and ``addressed(_:)`` adds it.
enum WebFile: String, CaseIterable, Sendable {
    case style = "style.css"
    case activityStyle = "activity.css"
    case galleryStyle = "gallery.css"
    case notesStyle = "notes.css"
    case peopleStyle = "people.css"
    case viewerStyle = "viewer.css"
    case pageScript = "page.js"
    case galleryScript = "gallery.js"
    case timelineScript = "timeline.js"
    case layoutScript = "layout.js"
    case scrubberScript = "scrubber.js"
    case selectScript = "select.js"
    case addScript = "add.js"
    case queueScript = "queue.js"
    case sendScript = "send.js"
    case viewerScript = "viewer.js"
    case editorScript = "editor.js"
    case draftsScript = "drafts.js"
    case mergeScript = "merge.js"
    case presenceScript = "presence.js"
    case insideScript = "inside.js"
    case timeScript = "time.js"
    case shareStyle = "share.css"
    case shareScript = "share.js"
    case flatScript = "flat.js"
    case painterScript = "painter.js"
    case photoScript = "photo.js"
    case photoStyle = "photo.css"
    case sensorScript = "sensor.js"
    case shapeScript = "shape.js"
    case spotsScript = "spots.js"
    case surroundingScript = "surrounding.js"
    case tilesScript = "tiles.js"
    case viewScript = "view.js"
    case icons = "icons.svg"
    case logo = "logo.svg"

    private var source: [UInt8] {
        switch self {
        case .style: PackageResources.style_css
        case .activityStyle: PackageResources.activity_css
        case .galleryStyle: PackageResources.gallery_css
        case .notesStyle: PackageResources.notes_css
        case .peopleStyle: PackageResources.people_css
        case .viewerStyle: PackageResources.viewer_css
        case .pageScript: PackageResources.page_js
        case .galleryScript: PackageResources.gallery_js
        case .timelineScript: PackageResources.timeline_js
        case .layoutScript: PackageResources.layout_js
        case .scrubberScript: PackageResources.scrubber_js
        case .selectScript: PackageResources.select_js
        case .addScript: PackageResources.add_js
        case .queueScript: PackageResources.queue_js
        case .sendScript: PackageResources.send_js
        case .viewerScript: PackageResources.viewer_js
        case .editorScript: PackageResources.editor_js
        case .draftsScript: PackageResources.drafts_js
        case .mergeScript: PackageResources.merge_js
        case .presenceScript: PackageResources.presence_js
        case .insideScript: PackageResources.inside_js
        case .timeScript: PackageResources.time_js
        case .shareStyle: PackageResources.share_css
        case .shareScript: PackageResources.share_js
        case .flatScript: PackageResources.flat_js
        case .painterScript: PackageResources.painter_js
        case .photoScript: PackageResources.photo_js
        case .photoStyle: PackageResources.photo_css
        case .sensorScript: PackageResources.sensor_js
        case .shapeScript: PackageResources.shape_js
        case .spotsScript: PackageResources.spots_js
        case .surroundingScript: PackageResources.surrounding_js
        case .tilesScript: PackageResources.tiles_js
        case .viewScript: PackageResources.view_js
        case .icons: PackageResources.icons_svg
        case .logo: PackageResources.logo_svg
        }
    }

    /// The type in the answer.
    private var type: String {
        switch rawValue.drop(while: { $0 != "." }) {
        case ".css": "text/css; charset=UTF-8"
        case ".js": "text/javascript; charset=UTF-8"
        default: "image/svg+xml"
        }
    }

    /// What is sent: scripts and styles without the comments and the indents that people read them with.
    var bytes: [UInt8] { type.hasPrefix("text") ? Self.lean(source) : source }

    /// A script or a style without its indents, and without lines that are comments alone.
    ///
    /// Our own files keep to what this relies on: a comment has its lines for itself, and no text spans lines that begin
    /// with a comment's marks.
    private static func lean(_ source: [UInt8]) -> [UInt8] {
        var isComment = false
        var lines: [Substring] = []
        for line in String(decoding: source, as: UTF8.self).split(separator: "\n") {
            let text = line.drop { $0 == " " }
            if !isComment, text.hasPrefix("//") { continue }
            if text.hasPrefix("/*") { isComment = true }
            if !isComment { lines.append(text) }
            if isComment, text.hasSuffix("*/") { isComment = false }
        }
        return Array(lines.joined(separator: "\n").utf8)
    }

    // MARK: - Addresses

    private static let prepared: (digest: String, bodies: [WebFile: (plain: ByteBuffer, packed: ByteBuffer?)]) = {
        var hash = SHA256()
        var bodies: [WebFile: (plain: ByteBuffer, packed: ByteBuffer?)] = [:]
        for file in allCases {
            let bytes = file.bytes
            hash.update(data: bytes)
            bodies[file] = (ByteBuffer(bytes: bytes), Gzip.compressed(bytes).map { ByteBuffer(bytes: $0) })
        }
        return (Hexadecimal.encode(Array(hash.finalize().prefix(8))), bodies)
    }()

    /// The length of the file as it is sent to nearly every browser, in bytes.
    var packedLength: Int {
        let body = Self.prepared.bodies[self]
        return (body?.packed ?? body?.plain)?.readableBytes ?? 0
    }

    /// The address in a page.
    var address: String { "/assets/\(Self.prepared.digest)/\(rawValue)" }

    /// A template's text with the digest in the addresses of files.
    static func addressed(_ template: String) -> String {
        template.replacing("\"/assets/", with: "\"/assets/\(prepared.digest)/")
    }

    /// Answers `GET /assets/DIGEST/NAME`: for good under the digest of this program, else for minutes, as for a page of
    /// another version.
    ///
    /// - Throws: ``APIError`` 404 for any other name.
    static func respond(to request: RoutedRequest) throws -> Response {
        let tail = request.tail
        guard (1...2).contains(tail.count), let file = tail.last.flatMap({ WebFile(rawValue: $0) }),
            let body = prepared.bodies[file]
        else { throw APIError(404, "Page not found.") }
        let isCurrent = tail.count == 2 && tail.first == prepared.digest
        var headers: HTTPFields = [
            .contentType: file.type,
            .cacheControl: isCurrent ? "public, max-age=31536000, immutable" : "public, max-age=300",
        ]
        headers[.vary] = "Accept-Encoding"
        let accepted = request.headers[values: .acceptEncoding].flatMap { $0.split(separator: ",") }
        let takesGzip = accepted.contains { $0.drop { $0 == " " }.prefix { $0 != ";" && $0 != " " } == "gzip" }
        guard takesGzip, let packed = body.packed else {
            return Response(.ok, headers: headers, body: .bytes(body.plain))
        }
        headers[.contentEncoding] = "gzip"
        return Response(.ok, headers: headers, body: .bytes(packed))
    }
}
