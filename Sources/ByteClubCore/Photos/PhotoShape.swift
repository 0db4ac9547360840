/// What a photo is as a picture: its size, and how it should be looked at.
///
/// On the wire it is the object `shape` of `photo_info`, an extension of the Core API v1.
public struct PhotoShape: Hashable, Sendable {
    /// The ways a photo is shown.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
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
    public var kind: Kind
    /// Pixels as it is seen, with its orientation applied.
    public var width: Int
    /// Pixels as it is seen, with its orientation applied.
    public var height: Int
    /// Degrees covered from left to right, 0 to 360; nil when nothing says so.
    public var hFOV: Double?
    /// Degrees covered from bottom to top, 0 to 180; nil when nothing says so.
    public var vFOV: Double?
    /// Degrees from the middle of the whole panorama to the centre of this part, right is positive.
    public var yaw: Double
    /// Degrees of the centre above the horizon, -90 to 90.
    public var pitch: Double
    /// The compass direction of the middle of the whole panorama, degrees from north through east; nil when unknown.
    public var heading: Double?
    /// Whether the angles are a guess from the focal length.
    public var isEstimate: Bool

    /// Creates a shape; angles that are left out are unknown.
    public init(
        kind: Kind, width: Int, height: Int, hFOV: Double? = nil, vFOV: Double? = nil, yaw: Double = 0,
        pitch: Double = 0, heading: Double? = nil, isEstimate: Bool = false
    ) {
        self.kind = kind
        self.width = width
        self.height = height
        self.hFOV = hFOV
        self.vFOV = vFOV
        self.yaw = yaw
        self.pitch = pitch
        self.heading = heading
        self.isEstimate = isEstimate
    }
}

extension PhotoShape: JSONReadable {
    /// Reads the wire's object; a kind of a later version is an ordinary photo.
    public init(json: inout JSONReader) throws(JSONError) {
        var read = PhotoShape(kind: .flat, width: 0, height: 0)
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "kind": read.kind = Kind(rawValue: try json.string()) ?? .flat
            case "width": read.width = Int(clamping: try json.integer())
            case "height": read.height = Int(clamping: try json.integer())
            case "hfov": read.hFOV = try json.double()
            case "vfov": read.vFOV = try json.double()
            case "yaw": read.yaw = try json.double()
            case "pitch": read.pitch = try json.double()
            case "heading": read.heading = try json.double()
            case "is_estimate": read.isEstimate = try json.bool()
            default: try json.skip()
            }
        }
        self = read
    }
}
