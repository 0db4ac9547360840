internal import Glibc

/// How a photo should be looked at, and why.
///
/// A pure rule over the header: the same header gives the same answer. Google's tags decide; a phone's tag comes next;
/// the shape alone never bends a picture, it only lets it be panned.
public struct Panorama: Sendable, Hashable {
    /// The ways a photo is shown.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The whole sphere in equirectangular projection.
        case sphere
        /// A part of a sphere in equirectangular projection.
        case partialSphere
        /// A cylinder around the viewer.
        case cylinder
        /// A long picture to pan along, not to bend.
        case strip
        /// An ordinary photo.
        case flat
    }

    /// How to show it.
    public let kind: Kind
    /// Degrees covered from left to right, 0 to 360; nil when nothing says so.
    public let hFOV: Double?
    /// Degrees covered from bottom to top, 0 to 180; nil when nothing says so.
    public let vFOV: Double?
    /// Degrees from the middle of the whole panorama to the centre of this part, right is positive; 0 when unknown.
    public let yaw: Double
    /// Degrees of the centre above the horizon, −90 to 90; 0 when unknown.
    public let pitch: Double
    /// Whether the angles are a guess from the focal length.
    public let isEstimate: Bool
    /// The EXIF orientation to apply, 1 to 8.
    ///
    /// It differs from the header's for a sphere that claims to lie on its side: turning it would break the projection.
    public let orientation: Int
    /// One line that says which rule decided.
    public let why: String

    /// Decides by the header's tags and shape.
    public init(header: JPEGHeader) {
        let tags = header.xmp.flatMap { GPano(xmp: $0, width: header.width, height: header.height) }
        let isOnItsSide = header.orientation >= 5
        if let tags, !tags.wantsViewer {
            self.init(.flat, header, why: "GPano UsePanoramaViewer is False")
        } else if let tags, tags.projection == "equirectangular" {
            let kind: Kind = tags.isWhole ? .sphere : .partialSphere
            let shape = tags.isWhole ? "the whole sphere" : "a part of the sphere"
            self.init(
                kind, header, hFOV: tags.hFOV, vFOV: tags.vFOV, yaw: tags.yaw, pitch: tags.pitch,
                orientation: isOnItsSide ? 1 : header.orientation, why: "GPano equirectangular, \(shape)")
        } else if let tags, tags.projection == "cylindrical" {
            self.init(
                .cylinder, header, hFOV: tags.hFOV, vFOV: tags.vFOV, yaw: tags.yaw, pitch: tags.pitch,
                orientation: isOnItsSide ? 1 : header.orientation, why: "GPano cylindrical")
        } else {
            let width = isOnItsSide ? header.height : header.width
            let height = isOnItsSide ? header.width : header.height
            self.init(untagged: header, width: width, height: height)
        }
    }

    private init(untagged header: JPEGHeader, width: Int, height: Int) {
        let long = Double(max(width, height))
        let aspect = long / Double(min(width, height))
        if header.customRendered == 6 {
            // A phone is held across the way it is swept, so the short side of the strip spans 36 mm of film.
            let focal = Double(header.focalLength35mm ?? 26)
            let short = 2 * atan(18 / focal) * 180 / .pi
            let swept = min(240, aspect * 36 / focal * 180 / .pi)
            let isWide = width >= height
            self.init(
                .strip, header, hFOV: isWide ? swept : short, vFOV: isWide ? min(180, short) : min(180, swept),
                isEstimate: true, why: "EXIF CustomRendered is 6, a phone's panorama")
        } else if aspect >= 2 {
            let mayBeSphere = width == 2 * height && width >= 2048
            self.init(
                .strip, header,
                why: mayBeSphere
                    ? "no tags; exactly 2:1, so it may be a sphere"
                    : "no tags; the long side is twice the short or more")
        } else {
            self.init(.flat, header, why: "no panorama tags and an ordinary shape")
        }
    }

    private init(
        _ kind: Kind, _ header: JPEGHeader, hFOV: Double? = nil, vFOV: Double? = nil, yaw: Double = 0,
        pitch: Double = 0,
        isEstimate: Bool = false, orientation: Int? = nil, why: String
    ) {
        self.kind = kind
        self.hFOV = hFOV
        self.vFOV = vFOV
        self.yaw = yaw
        self.pitch = pitch
        self.isEstimate = isEstimate
        self.orientation = orientation ?? header.orientation
        self.why = why
    }
}
