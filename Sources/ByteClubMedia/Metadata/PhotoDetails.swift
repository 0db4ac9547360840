/// When and where a photo was taken, as the camera wrote it into the EXIF tags (EXIF 2.32, 4.6.5 and 4.6.6).
public struct PhotoDetails: Sendable, Hashable {
    /// Degrees north and east.
    public struct Place: Sendable, Hashable {
        /// Degrees north, -90 to 90.
        public let latitude: Double
        /// Degrees east, -180 to 180.
        public let longitude: Double
    }

    /// When the shutter opened, in seconds since 1970; the camera's own clock, unless it wrote its distance from UTC.
    public private(set) var taken: Int64?
    /// Where the camera was.
    public private(set) var place: Place?

    /// Reads the header of a JPEG file; blocks for the file's storage.
    ///
    /// Errors: `io`, `notAJPEG`, `damaged`, `unsupported`. Tags that are missing or broken are only left out. With
    /// `followsLinks` false, a symbolic link at the path is an error.
    public init(file path: String, followsLinks: Bool = true) throws(MediaError) {
        try self.init(FileSource(path: path, followsLinks: followsLinks))
    }

    /// Reads the header of a JPEG in memory.
    ///
    /// Errors: `notAJPEG`, `damaged`, `unsupported`.
    public init(bytes: [UInt8]) throws(MediaError) {
        try self.init(MemorySource(bytes: bytes))
    }

    private init(_ source: borrowing some ByteSource & ~Copyable) throws(MediaError) {
        guard let range = try JPEGHeader(source).exifRange, let tags = try TIFFStructure(source, range) else { return }
        let main = try tags.directory(source, at: tags.first)
        if let pointer = tags.integer(main[0x8769]) {
            let details = try tags.directory(source, at: pointer)
            let zone = try tags.text(source, details[0x9011]).flatMap { Self.seconds(ofZone: $0) } ?? 0
            taken = try tags.text(source, details[0x9003]).flatMap { Self.seconds(of: $0) }.map { $0 - zone }
        }
        if let pointer = tags.integer(main[0x8825]) {
            let fields = try tags.directory(source, at: pointer)
            let latitude = try Self.degrees(source, tags, fields[1], fields[2], negative: "S", limit: 90)
            let longitude = try Self.degrees(source, tags, fields[3], fields[4], negative: "W", limit: 180)
            if let latitude, let longitude { place = Place(latitude: latitude, longitude: longitude) }
        }
    }

    private static func degrees(
        _ source: borrowing some ByteSource & ~Copyable, _ tags: TIFFStructure, _ side: TIFFStructure.Field?,
        _ angle: TIFFStructure.Field?, negative: String, limit: Double
    ) throws(MediaError) -> Double? {
        guard let side = try tags.text(source, side), let parts = try tags.fractions(source, angle, count: 3) else {
            return nil
        }
        let value = parts[0] + parts[1] / 60 + parts[2] / 3600
        guard value <= limit else { return nil }
        // A millionth of a degree is a hand's breadth.
        let rounded = (value * 1e6).rounded() / 1e6
        return side == negative ? -rounded : rounded
    }

    /// The seconds of `2013:08:05 16:40:12`.
    private static func seconds(of text: String) -> Int64? {
        let numbers = text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == " " }.map { Int64($0) ?? -1 }
        guard numbers.count == 6, (1...9999).contains(numbers[0]), (1...12).contains(numbers[1]),
            (1...31).contains(numbers[2]), (0...23).contains(numbers[3]), (0...59).contains(numbers[4]),
            (0...60).contains(numbers[5])
        else { return nil }
        // Days since 1970, in years that begin in March, so that the leap day comes last.
        let year = numbers[1] > 2 ? numbers[0] : numbers[0] - 1
        let month = (numbers[1] + 9) % 12
        let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + numbers[2] - 719_469
        return ((days * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]
    }

    /// The seconds of `+02:00`.
    private static func seconds(ofZone text: String) -> Int64? {
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        let numbers = text.dropFirst().split(separator: ":").map { Int64($0) ?? -1 }
        guard numbers.count == 2, (0...14).contains(numbers[0]), (0...59).contains(numbers[1]) else { return nil }
        return (numbers[0] * 3600 + numbers[1] * 60) * (sign == "-" ? -1 : 1)
    }
}
