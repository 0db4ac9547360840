public import ByteClubCore

/// The addresses of a server's pages that people are shown in a browser.
public enum ClubPage {
    /// The gallery of the server at an origin.
    public static func gallery(at origin: String) -> String { origin + "/gallery" }

    /// The page of a note or a photo.
    public static func entry(_ path: RemotePath, at origin: String) -> String {
        gallery(at: origin) + PercentEncoding.encode(path)
    }

    /// The page for a short code, with the code filled in.
    public static func device(_ code: DeviceSignIn.Code) -> String {
        code.page + "?code=" + PercentEncoding.encode(code.text)
    }

    /// An invitation that leads, once its guest has joined, to another page of the same server.
    public static func invitation(_ link: String, then page: String) -> String {
        let authority = page.firstRange(of: "://")?.upperBound ?? page.startIndex
        let place = page[authority...].drop { $0 != "/" }
        return link + (link.contains("?") ? "&" : "?") + "next=" + PercentEncoding.encode(String(place))
    }
}
