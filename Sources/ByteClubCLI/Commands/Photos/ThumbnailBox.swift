import ArgumentParser
import ByteClubCore

/// The boxes for thumbnails, as words of the command line.
enum ThumbnailBox: String, Sendable, CaseIterable, ExpressibleByArgument {
    case xs, s, m, l, xl

    /// The remote's word for the box.
    var size: ThumbnailSize {
        switch self {
        case .xs: .xs
        case .s: .s
        case .m: .m
        case .l: .l
        case .xl: .xl
        }
    }
}

/// How thumbnails are coded, as words of the command line.
enum ThumbnailCoding: String, Sendable, CaseIterable, ExpressibleByArgument {
    case jpeg, png

    /// The remote's word for the coding.
    var format: ThumbnailImageFormat { self == .jpeg ? .jpeg : .png }
}
