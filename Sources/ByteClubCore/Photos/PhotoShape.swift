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
    /// Degrees covered from left to right, 0 to 360; nil when unknown.
    public var hFOV: Double?
    /// Degrees covered from bottom to top, 0 to 180; nil when unknown.
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
        self.init(kind: .flat, width: 0, height: 0)
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "kind": kind = Kind(rawValue: try json.string()) ?? .flat
            case "width": width = Int(clamping: try json.integer())
            case "height": height = Int(clamping: try json.integer())
            case "hfov": hFOV = try json.double()
            case "vfov": vFOV = try json.double()
            case "yaw": yaw = try json.double()
            case "pitch": pitch = try json.double()
            case "heading": heading = try json.double()
            case "is_estimate": isEstimate = try json.bool()
            default: try json.skip()
            }
        }
    }
}

/// When a photo was taken: the local time at that place, and its distance from UTC.
///
/// People look for a photo by the clock of the place, whatever zone they are in: lists, days and searches go by
/// ``clock``.
public struct TakenTime: Hashable, Sendable, CustomStringConvertible {
    /// What the clock showed, as the date on which a clock in UTC shows the same.
    public let clock: APIDate
    /// Seconds east of UTC, at most ``farthest`` either way; nil where the photo does not say.
    public let offset: Int?

    /// The farthest that a clock is from UTC, in seconds.
    public static let farthest = 14 * 3600

    /// Creates a time; an offset that no zone has, or that leads out of the years 1 to 9999, is left out.
    public init(clock: APIDate, offset: Int? = nil) {
        self.clock = clock
        self.offset = offset.flatMap { Self.offsets.contains($0) && Self.isDate(clock, -$0) ? $0 : nil }
    }

    /// The time of a moment at an offset from UTC, in seconds; without one, `moment` is the clock's.
    public init(moment: APIDate, offset: Int?) {
        guard let offset, Self.offsets.contains(offset), Self.isDate(moment, offset) else {
            self.init(clock: moment)
            return
        }
        self.init(clock: APIDate(seconds: moment.seconds + Int64(offset)), offset: offset)
    }

    private static let offsets = -farthest...farthest

    /// Whether a date is within the years 1 to 9999, and still when it is shifted by some seconds.
    private static func isDate(_ date: APIDate, _ shift: Int) -> Bool {
        let dates = Int64(-62_135_596_800)...Int64(253_402_300_799)
        return dates.contains(date.seconds) && dates.contains(date.seconds + Int64(shift))
    }

    /// The moment; without an offset the one at which a clock in UTC shows this.
    public var moment: APIDate { offset.map { APIDate(seconds: clock.seconds - Int64($0)) } ?? clock }

    /// As in `2025-06-22T00:30:00+09:00` (RFC 3339), and without an offset where that is unknown (ISO 8601).
    public var description: String {
        let local = String(clock.rfc3339.dropLast())
        guard let offset else { return local }
        let distance = abs(offset)
        return local + (offset < 0 ? "-" : "+") + APIDate.two(distance / 3600) + ":"
            + APIDate.two(distance / 60 % 60)
    }
}
