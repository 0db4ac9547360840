/// The boxes into which thumbnails fit.
public enum ThumbnailSize: String, Sendable, CaseIterable, Codable {
    /// 32 by 32 pixels.
    case xs
    /// 64 by 64 pixels.
    case s
    /// 128 by 128 pixels.
    case m
    /// 640 by 480 pixels.
    case l
    /// 1024 by 768 pixels.
    case xl

    /// Reads the wire's word, also the old names `small`, `medium` and `large`; nil for any other.
    public init?(word: String) {
        switch word {
        case "small": self = .xs
        case "medium": self = .s
        case "large": self = .m
        default: self.init(rawValue: word)
        }
    }

    /// The box's width in pixels.
    public var width: Int { box.width }

    /// The box's height in pixels.
    public var height: Int { box.height }

    private var box: (width: Int, height: Int) {
        switch self {
        case .xs: (32, 32)
        case .s: (64, 64)
        case .m: (128, 128)
        case .l: (640, 480)
        case .xl: (1024, 768)
        }
    }
}

/// How a thumbnail is coded.
public enum ThumbnailImageFormat: String, Sendable, CaseIterable, Codable {
    /// JPEG, for photos.
    case jpeg
    /// PNG, for screenshots.
    case png

    /// Reads the wire's word in any letter case; nil for any other.
    public init?(word: String) {
        self.init(rawValue: word.lowercased())
    }

    /// The format's MIME type.
    public var mime: String { "image/" + rawValue }
}
