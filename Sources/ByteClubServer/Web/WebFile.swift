import HTTPTypes
import NIOCore

/// A script or a style of the pages, which SwiftPM makes part of the program as it does with ``Template``s.
enum WebFile: Sendable {
    case galleryStyle, galleryScript, viewerStyle, viewerScript, timeScript

    /// Answers with the file, whoever asks.
    var response: @Sendable (RoutedRequest) async throws -> Response {
        { _ in
            Response(
                .ok, headers: [.contentType: "\(type); charset=UTF-8", .cacheControl: "public, max-age=300"],
                body: .bytes(ByteBuffer(bytes: bytes)))
        }
    }

    private var bytes: [UInt8] {
        switch self {
        case .galleryStyle: PackageResources.gallery_css
        case .galleryScript: PackageResources.gallery_js
        case .viewerStyle: PackageResources.viewer_css
        case .viewerScript: PackageResources.viewer_js
        case .timeScript: PackageResources.time_js
        }
    }

    private var type: String {
        switch self {
        case .galleryStyle, .viewerStyle: "text/css"
        case .galleryScript, .viewerScript, .timeScript: "text/javascript"
        }
    }
}
