/// The properties that Core API v1 derives from a file's extension: the MIME type, the icon, and whether it may have a
/// thumbnail.
public struct MediaType: Hashable, Sendable {
    /// The MIME type, `application/octet-stream` when the extension is unknown.
    public let mime: String
    /// The name in the icon library.
    public let icon: String

    /// Whether a thumbnail may be had: the file is a JPEG or a PNG by its name.
    public var hasThumbnail: Bool { mime == "image/jpeg" || mime == "image/png" }
    /// Whether the content is text, sent with a charset.
    public var isText: Bool { mime.utf8.starts(with: "text/".utf8) }

    /// Whether such files may contain the place where they were made, and nothing here can remove it: films, and photos
    /// of phones and cameras that are neither JPEG nor PNG.
    public var mayTellPlace: Bool { mime.utf8.starts(with: "video/".utf8) || Self.tellingPlaces.contains(mime) }

    private static let tellingPlaces: Set<String> = [
        "image/heic", "image/heif", "image/avif", "image/tiff", "image/webp", "image/x-adobe-dng",
    ]

    /// Whether browsers lay such content out as a page, style a page with it, or run it.
    public var isActive: Bool { Self.active.contains(mime) }

    private static let active: Set<String> = [
        "text/html", "image/svg+xml", "application/xml", "text/css", "application/javascript",
    ]
    private static let unknown = MediaType(mime: "application/octet-stream", icon: "page_white")
    private static let known: [String: MediaType] = {
        let types: [String: [String: String]] = [
            "page_white_text": [
                "txt": "text/plain", "text": "text/plain", "md": "text/markdown", "markdown": "text/markdown",
                "log": "text/plain", "csv": "text/csv", "rtf": "application/rtf",
            ],
            "page_white_picture": [
                "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif",
                "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff", "webp": "image/webp",
                "heic": "image/heic", "heif": "image/heif", "avif": "image/avif", "dng": "image/x-adobe-dng",
                "svg": "image/svg+xml",
            ],
            "page_white_acrobat": ["pdf": "application/pdf"],
            "page_white_sound": [
                "mp3": "audio/mpeg", "m4a": "audio/mp4", "wav": "audio/x-wav", "ogg": "audio/ogg",
                "flac": "audio/flac",
            ],
            "page_white_film": [
                "mp4": "video/mp4", "mov": "video/quicktime", "avi": "video/x-msvideo", "mkv": "video/x-matroska",
                "webm": "video/webm", "m4v": "video/x-m4v", "3gp": "video/3gpp",
            ],
            "page_white_compressed": [
                "zip": "application/zip", "gz": "application/gzip", "tar": "application/x-tar",
                "bz2": "application/x-bzip2", "xz": "application/x-xz", "7z": "application/x-7z-compressed",
            ],
            "page_white_word": [
                "doc": "application/msword", "odt": "application/vnd.oasis.opendocument.text",
                "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            ],
            "page_white_excel": [
                "xls": "application/vnd.ms-excel", "ods": "application/vnd.oasis.opendocument.spreadsheet",
                "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            ],
            "page_white_powerpoint": [
                "ppt": "application/vnd.ms-powerpoint", "odp": "application/vnd.oasis.opendocument.presentation",
                "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            ],
            "page_white_code": [
                "swift": "text/x-swift", "c": "text/x-c", "h": "text/x-c", "py": "text/x-python",
                "js": "application/javascript", "json": "application/json", "html": "text/html",
                "htm": "text/html", "css": "text/css", "xml": "application/xml", "sh": "application/x-sh",
            ],
        ]
        var known: [String: MediaType] = [:]
        for (icon, endings) in types {
            for (ending, mime) in endings { known[ending] = MediaType(mime: mime, icon: icon) }
        }
        return known
    }()

    private init(mime: String, icon: String) {
        self.mime = mime
        self.icon = icon
    }

    /// Guesses from a file's name; letter case does not matter.
    public init(name: String) {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else {
            self = Self.unknown
            return
        }
        self = Self.known[PathKey.fold(String(name[name.utf8.index(after: dot)...]))] ?? Self.unknown
    }
}
