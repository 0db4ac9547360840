/// A filter for photos: by their shapes, when they were taken, and where.
///
/// A photo of unknown shape or place does not match a filter for shapes or places. Times are shown by clocks at the
/// places where photos were taken (``TakenTime/clock``).
public struct PhotoFilter: Hashable, Sendable {
    /// The kinds; nil for every photo.
    public var kinds: Set<PhotoShape.Kind>?
    /// The first time that a clock shows; nil for any.
    public var since: APIDate?
    /// The time that no clock shows yet; nil for any.
    public var until: APIDate?
    /// Around where; nil for anywhere, and for photos that do not tell.
    public var near: GeographicCircle?

    /// Creates a filter; nil restricts nothing.
    public init(
        kinds: Set<PhotoShape.Kind>? = nil, since: APIDate? = nil, until: APIDate? = nil, near: GeographicCircle? = nil
    ) {
        self.kinds = kinds
        self.since = since
        self.until = until
        self.near = near
    }

    /// Whether it restricts nothing.
    public var isEmpty: Bool { self == PhotoFilter() }

    /// Whether a photo matches: `kind` is the shape that its caption asks for, `date` when it was taken, else the date
    /// of its file, and `place` where it was taken; nil is unknown.
    public func matches(kind: PhotoShape.Kind?, date: APIDate?, place: MediaInfo.Place?) -> Bool {
        if let kinds, !(kind.map(kinds.contains) ?? false) { return false }
        if since != nil || until != nil {
            guard let date, since.map({ $0 <= date }) ?? true, until.map({ date < $0 }) ?? true else { return false }
        }
        if let near, !(place.map(near.contains) ?? false) { return false }
        return true
    }

    /// The kinds in a list such as `sphere,strip`; nil for one that is empty or names another.
    public static func kinds(_ text: String) -> Set<PhotoShape.Kind>? {
        let kinds = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { PhotoShape.Kind(rawValue: String($0)) }
        return kinds.contains(nil) ? nil : Set(kinds.compactMap(\.self))
    }

    /// Reads a moment from the wire: RFC 3339 in UTC, or a day, which means its beginning; nil for anything else.
    public static func moment(_ text: String) -> APIDate? {
        APIDate(rfc3339: text.utf8.count == 10 ? text + "T00:00:00Z" : text)
    }
}

extension PhotoShape.Kind {
    /// Everything wider than a look ahead: all kinds but ordinary photos.
    public static let panoramas = Set(allCases).subtracting([.flat])
}

/// All places within a distance of a place on the earth.
///
/// As text it is `50.6089,6.4381,10`: degrees north and east, and kilometres, which are ``usualRadius`` when left out.
public struct GeographicCircle: Hashable, Sendable, CustomStringConvertible {
    /// The default radius in kilometres.
    public static let usualRadius = 10.0
    /// Half way around the earth, in kilometres: no circle is larger.
    public static let largestRadius = 20_040.0
    /// The earth's mean radius in kilometres.
    private static let earth = 6371.0088

    /// The middle.
    public let centre: MediaInfo.Place
    /// Kilometres, more than 0 and at most ``largestRadius``.
    public let radius: Double

    /// Reads degrees north from -90 to 90, degrees east from -180 to 180 and kilometres; nil when the text is anything
    /// else.
    public init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Self.number($0) }
        guard (2...3).contains(parts.count), let latitude = parts[0], let longitude = parts[1],
            let radius = parts.count == 3 ? parts[2] : Self.usualRadius, abs(latitude) <= 90, abs(longitude) <= 180,
            radius > 0, radius <= Self.largestRadius
        else { return nil }
        centre = MediaInfo.Place(latitude: latitude, longitude: longitude)
        self.radius = radius
    }

    /// A decimal number, with blanks around it or not.
    private static func number(_ text: Substring) -> Double? {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        guard text.utf8.count <= 24, text.utf8.allSatisfy({ "0123456789.+-e".utf8.contains($0) }) else { return nil }
        return Double(text)
    }

    /// The text that is read as this circle.
    public var description: String { "\(centre.latitude),\(centre.longitude),\(radius)" }

    /// Whether a place is in it, on a sphere of the earth's size: half a percent off at most.
    public func contains(_ place: MediaInfo.Place) -> Bool {
        // The haversine formula, without the angle's way back from its sine.
        let (north, east) = (Self.radians(place.latitude), Self.radians(place.longitude))
        let (fromNorth, fromEast) = (Self.radians(centre.latitude), Self.radians(centre.longitude))
        let (half, turned) = (Self.sine((north - fromNorth) / 2), Self.sine((east - fromEast) / 2))
        let distance = half * half + Self.cosine(north) * Self.cosine(fromNorth) * turned * turned
        let edge = Self.sine(min(radius / Self.earth, .pi) / 2)
        return distance <= edge * edge
    }

    /// The range of latitudes of the circle, in degrees north.
    public var latitudes: ClosedRange<Double> {
        let reach = degrees
        return max(-90, centre.latitude - reach)...min(90, centre.latitude + reach)
    }

    /// The ranges of longitudes of the circle, in degrees east: one, or two where it crosses the 180th meridian.
    public var longitudes: [ClosedRange<Double>] {
        let (reach, all) = (degrees, -180.0...180.0)
        // With a pole in it, it has places of every longitude.
        guard abs(centre.latitude) + reach < 90 else { return [all] }
        let width = Self.sine(Self.radians(reach)) / Self.cosine(Self.radians(centre.latitude))
        // An angle up to a right one is at most this many times its sine.
        let angle = width * .pi / 2 * 180 / .pi
        guard width < 1, angle < 180 else { return [all] }
        let (west, east) = (centre.longitude - angle, centre.longitude + angle)
        if west < -180 { return [-180...east, west + 360...180] }
        if east > 180 { return [west...180, -180...east - 360] }
        return [west...east]
    }

    /// The radius as an angle at the earth's centre, with some room for rounding.
    private var degrees: Double { radius / Self.earth * 180 / .pi * 1.000_001 }

    private static func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }

    private static func cosine(_ angle: Double) -> Double { sine(.pi / 2 - angle) }

    /// The sine by its series, which this module has no library for; exact to 1e-12.
    private static func sine(_ angle: Double) -> Double {
        var angle = angle.remainder(dividingBy: 2 * .pi)
        if abs(angle) > .pi / 2 { angle = (angle < 0 ? -.pi : .pi) - angle }
        var (term, sum) = (angle, angle)
        for step in 1...10 {
            term *= -angle * angle / Double(2 * step * (2 * step + 1))
            sum += term
        }
        return sum
    }
}
