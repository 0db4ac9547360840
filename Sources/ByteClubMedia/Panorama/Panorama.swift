internal import Glibc

/// How a photo should be looked at, and why.
///
/// A pure rule over the header: the same header gives the same answer. Google's tags decide first, then a phone's tag;
/// the shape alone never bends a picture, it only allows panning.
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
    /// Degrees covered from left to right, 0 to 360; nil when unknown.
    public let hFOV: Double?
    /// Degrees covered from bottom to top, 0 to 180; nil when unknown.
    ///
    /// On a cylinder a degree up is as long as a degree across, so a row is at the tangent of its elevation.
    public let vFOV: Double?
    /// Degrees from the middle of the whole panorama to the centre of this part, right is positive; 0 when unknown.
    public let yaw: Double
    /// Degrees of the centre above the horizon, −90 to 90, in the measure of `vFOV`; 0 when unknown.
    public let pitch: Double
    /// The compass direction of the middle of the whole panorama, degrees from north through east, 0 to 360; nil when
    /// unknown.
    public let heading: Double?
    /// The first direction to show; nil when unknown.
    public let initialView: PanoramaDirection?
    /// Whether the angles are a guess.
    public let isEstimate: Bool
    /// Whether a strip without tags has the shape and size of a whole sphere, so that a person may be asked.
    public let mayBeSphere: Bool
    /// The EXIF orientation to apply, 1 to 8.
    ///
    /// It differs from the header's for a sphere that claims to lie on its side: turning it would break the projection.
    public let orientation: Int
    /// Pixels across with the orientation applied.
    public let seenWidth: Int
    /// Pixels down with the orientation applied.
    public let seenHeight: Int
    /// One line about the rule that decided.
    public let why: String

    /// Decides by the header's tags and shape, or as a person has chosen.
    ///
    /// - Parameters:
    ///   - header: The photo's header.
    ///   - view: The kind chosen by a person; nil for the rule. Angles that a chosen kind needs and the photo lacks are
    ///     guessed from its shape.
    public init(header: JPEGHeader, view: Kind? = nil) {
        let tags = GPano(header)
        if let view {
            self.init(view, chosenFor: header, tags: tags)
        } else if let tags, !tags.wantsViewer {
            self.init(.flat, header, why: "GPano UsePanoramaViewer is False")
        } else if let tags, tags.projection == "equirectangular" {
            let shape = tags.isWhole ? "the whole sphere" : "a part of the sphere"
            self.init(
                tags.isWhole ? .sphere : .partialSphere, header, tags: tags, why: "GPano equirectangular, \(shape)")
        } else if let tags, tags.projection == "cylindrical" {
            self.init(.cylinder, header, tags: tags, why: "GPano cylindrical")
        } else {
            self.init(untagged: header)
        }
    }

    private init(_ kind: Kind, chosenFor header: JPEGHeader, tags: GPano?) {
        let why = "chosen by a person"
        switch kind {
        case .flat:
            self.init(.flat, header, why: why)
        case .strip:
            let angles = Self.phoneAngles(header)
            self.init(
                .strip, header, hFOV: angles?.across, vFOV: angles?.down, heading: tags?.heading,
                isEstimate: angles != nil, why: why)
        case .sphere:
            self.init(
                .sphere, header, hFOV: 360, vFOV: 180, heading: tags?.heading, initialView: tags?.initialView,
                orientation: Self.unturned(header), why: why)
        case .partialSphere, .cylinder:
            if let tags {
                self.init(kind, header, tags: tags, why: why)
            } else {
                // At most a whole turn and the poles, or the angle of the focal length.
                let orientation = Self.unturned(header)
                let seen = Self.size(of: header, orientation: orientation)
                let angles = Self.phoneAngles(header)
                let aspect = Double(seen.width) / Double(seen.height)
                let across = angles?.across ?? min(360, 180 * aspect)
                self.init(
                    kind, header, hFOV: across, vFOV: min(180, across / aspect), isEstimate: true,
                    orientation: orientation, why: why)
            }
        }
    }

    private init(untagged header: JPEGHeader) {
        let seen = Self.size(of: header, orientation: header.orientation)
        if let angles = Self.phoneAngles(header) {
            self.init(
                .strip, header, hFOV: angles.across, vFOV: angles.down, isEstimate: true,
                why: "EXIF CustomRendered is 6, a phone's panorama")
        } else if max(seen.width, seen.height) >= 2 * min(seen.width, seen.height) {
            let mayBeSphere = seen.width == 2 * seen.height && seen.width >= 2048
            self.init(
                .strip, header, mayBeSphere: mayBeSphere,
                why: mayBeSphere
                    ? "no tags; exactly 2:1, so it may be a sphere"
                    : "no tags; the long side is twice the short or more")
        } else {
            self.init(.flat, header, why: "no panorama tags and an ordinary shape")
        }
    }

    private init(_ kind: Kind, _ header: JPEGHeader, tags: GPano, why: String) {
        self.init(
            kind, header, hFOV: tags.hFOV, vFOV: tags.vFOV, yaw: tags.yaw, pitch: tags.pitch, heading: tags.heading,
            initialView: tags.initialView, orientation: header.orientation >= 5 ? 1 : header.orientation, why: why)
    }

    private init(
        _ kind: Kind, _ header: JPEGHeader, hFOV: Double? = nil, vFOV: Double? = nil, yaw: Double = 0,
        pitch: Double = 0, heading: Double? = nil, initialView: PanoramaDirection? = nil, isEstimate: Bool = false,
        mayBeSphere: Bool = false, orientation: Int? = nil, why: String
    ) {
        self.kind = kind
        self.hFOV = hFOV
        self.vFOV = vFOV
        self.yaw = yaw
        self.pitch = pitch
        self.heading = heading
        self.initialView = initialView
        self.isEstimate = isEstimate
        self.mayBeSphere = mayBeSphere
        self.orientation = orientation ?? header.orientation
        (seenWidth, seenHeight) = Self.size(of: header, orientation: self.orientation)
        self.why = why
    }

    private static func size(of header: JPEGHeader, orientation: Int) -> (width: Int, height: Int) {
        orientation >= 5 ? (header.height, header.width) : (header.width, header.height)
    }

    /// The orientation of a picture that a person has called a sphere: one that is wide already is not turned on its
    /// side.
    private static func unturned(_ header: JPEGHeader) -> Int {
        header.orientation >= 5 && header.width >= 2 * header.height ? 1 : header.orientation
    }

    /// The angles of a phone's panorama by its focal length; nil when the photo does not say that it is one.
    private static func phoneAngles(_ header: JPEGHeader) -> (across: Double, down: Double)? {
        guard header.customRendered == 6 else { return nil }
        let seen = size(of: header, orientation: header.orientation)
        let aspect = Double(max(seen.width, seen.height)) / Double(min(seen.width, seen.height))
        // A phone is held across the way it is swept, so the short side of the strip spans 36 mm of film.
        let focal = Double(header.focalLength35mm ?? 26)
        let short = 2 * atan(18 / focal) * 180 / .pi
        let swept = min(240, aspect * 36 / focal * 180 / .pi)
        return seen.width >= seen.height ? (swept, short) : (short, min(180, swept))
    }
}

/// A direction of view in a panorama.
public struct PanoramaDirection: Sendable, Hashable {
    /// Degrees right of the middle of the whole panorama, -180 to 180.
    public var yaw: Double
    /// Degrees above the horizon, -90 to 90.
    public var pitch: Double

    /// Makes a direction; the angles are brought into their ranges.
    public init(yaw: Double, pitch: Double) {
        self.yaw = yaw.remainder(dividingBy: 360)
        self.pitch = min(max(pitch, -90), 90)
    }
}
