/// Which photos are looked for: by what they are as pictures, when they were taken, and where.
///
/// A photo whose kind or place is not known is none that is looked for by that. Times are those of clocks at the places
/// where photos were taken (``TakenTime/clock``).
public struct PhotoFilter: Hashable, Sendable {
    /// The kinds; nil for every photo.
    public var kinds: Set<PhotoShape.Kind>?
    /// The first time that a clock shows; nil for any.
    public var since: APIDate?
    /// The time that no clock shows yet; nil for any.
    public var until: APIDate?
    /// Around where; nil for anywhere, and for photos that do not tell.
    public var near: GeographicCircle?

    /// Creates a filter; what is left out restricts nothing.
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

    /// Whether a photo is looked for: by what it is as a picture, as its caption wants it to be seen, when it was
    /// taken, else the date of its file, and where it was taken; nil is what nobody knows of it.
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

    /// A moment as the wire has it: RFC 3339 in UTC, or a day, which stands for its beginning; nil for anything else.
    public static func moment(_ text: String) -> APIDate? {
        APIDate(rfc3339: text.utf8.count == 10 ? text + "T00:00:00Z" : text)
    }
}

extension PhotoShape.Kind {
    /// What is wider than a look ahead: all kinds but ordinary photos.
    public static let panoramas = Set(allCases).subtracting([.flat])
}
