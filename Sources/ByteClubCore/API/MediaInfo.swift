/// What `include_media_info` adds to a photo or a film.
public struct MediaInfo: Hashable, Sendable {
    /// Degrees north and east.
    public struct Place: Hashable, Sendable {
        /// Degrees north.
        public var latitude: Double
        /// Degrees east.
        public var longitude: Double

        /// Creates a place.
        public init(latitude: Double, longitude: Double) {
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    /// Whether the file is still to be looked at; the rest is then unknown.
    public var isPending = false
    /// The time at which the photo was taken.
    public var taken: TakenTime?
    /// The place where the photo was taken.
    public var place: Place?
    /// What it is as a picture; nil for a film, and for a file that is no picture.
    public var shape: PhotoShape?

    /// The wire's word for a file that is still to be looked at.
    public static let pendingWord = "pending"
    /// A file that is still to be looked at.
    public static let pending = MediaInfo(isPending: true)

    /// Creates an info with the known parts.
    public init(taken: TakenTime? = nil, place: Place? = nil, shape: PhotoShape? = nil) {
        self.taken = taken
        self.place = place
        self.shape = shape
    }

    private init(isPending: Bool) {
        self.isPending = isPending
    }
}

extension MediaInfo: JSONReadable {
    /// Reads the wire's object; any text in its place means that the file is still to be looked at.
    public init(json: inout JSONReader) throws(JSONError) {
        if json.startsString() {
            _ = try json.string()
            self = .pending
            return
        }
        self.init()
        var (moment, offset): (APIDate?, Int64?)
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "time_taken": moment = try json.optional()
            case "time_offset": offset = try json.optional()
            case "lat_long": place = try json.optional()
            case "shape": shape = try json.optional()
            default: try json.skip()
            }
        }
        taken = moment.map { TakenTime(moment: $0, offset: offset.flatMap { Int(exactly: $0) }) }
    }
}

extension MediaInfo.Place: JSONReadable {
    /// Reads the wire's pair of numbers.
    public init(json: inout JSONReader) throws(JSONError) {
        var numbers: [Double] = []
        let isNoPair = JSONError(.invalid("not a pair of degrees"))
        try json.array { (json) throws(JSONError) in
            if numbers.count == 2 { throw isNoPair }
            numbers.append(try json.double())
        }
        guard numbers.count == 2 else { throw isNoPair }
        self.init(latitude: numbers[0], longitude: numbers[1])
    }
}
