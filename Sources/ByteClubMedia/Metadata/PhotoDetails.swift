/// When, where and with what a photo was taken, from the tags of its camera or of a later program.
public struct PhotoDetails: Sendable, Hashable {
    /// Degrees north and east.
    public struct Place: Sendable, Hashable {
        /// Degrees north, -90 to 90.
        public let latitude: Double
        /// Degrees east, -180 to 180.
        public let longitude: Double
    }

    /// When the shutter opened, with the source of the time; nil when unknown.
    ///
    /// EXIF's DateTimeOriginal or DateTimeDigitized, else the satellites' clock, else the XMP packet, else the file's
    /// name. An EXIF date without a zone gets the one with which it agrees with the satellites' clock.
    public private(set) var time: PhotoTime?
    /// Where the camera was: from EXIF, else from the XMP packet.
    public private(set) var place: Place?
    /// The camera's maker, as EXIF has it.
    public private(set) var make: String?
    /// The camera's model, as EXIF has it.
    public private(set) var model: String?
    /// How it was exposed, as EXIF has it.
    public private(set) var exposure = PhotoExposure()

    /// When the shutter opened, in seconds since 1970; the camera's own clock, unless it is known how far that is from
    /// UTC.
    public var taken: Int64? { time?.seconds }

    /// Reads the header of a JPEG file; blocks for the file's storage.
    ///
    /// Missing and broken tags are left out. With `followsLinks` false, a symbolic link at the path is an error. `name`
    /// is the photo's own name, which may hold the date; nil when there is none.
    ///
    /// - Throws: `io`, `notAJPEG`, `damaged`, `unsupported`.
    public init(file path: String, name: String? = nil, followsLinks: Bool = true) throws(MediaError) {
        let source = try FileSource(path: path, followsLinks: followsLinks)
        try self.init(JPEGHeader(source), source, name: name)
    }

    /// Reads the header of a JPEG in memory; the first part of a file is enough if it reaches the first scan.
    ///
    /// - Throws: `notAJPEG`, `damaged`, `unsupported`.
    public init(bytes: [UInt8], name: String? = nil) throws(MediaError) {
        let source = MemorySource(bytes: bytes)
        try self.init(JPEGHeader(source), source, name: name)
    }

    init(_ header: JPEGHeader, _ source: some ByteSource, name: String?) throws(MediaError) {
        var satellites: PhotoTime?
        if let range = header.exifRange, let tags = try TIFFStructure(source, range) {
            let main = try tags.directory(at: tags.first)
            make = try tags.text(main[0x010F]).flatMap(Self.trimmed)
            model = try tags.text(main[0x0110]).flatMap(Self.trimmed)
            if let pointer = tags.integer(main[0x8769]) {
                let details = try tags.directory(at: pointer)
                exposure = try PhotoExposure(tags, details)
                time = try Self.time(tags, details, date: 0x9003, fraction: 0x9291, zone: 0x9011)
                if time == nil {
                    time = try Self.time(tags, details, date: 0x9004, fraction: 0x9292, zone: 0x9012)
                }
            }
            if let pointer = tags.integer(main[0x8825]) {
                let fields = try tags.directory(at: pointer)
                place = try Self.place(tags, fields)
                satellites = try Self.satelliteTime(tags, fields)
            }
        }
        if place == nil { place = Place(xmpOf: header) }
        time = time?.zoned(by: satellites) ?? satellites ?? Self.time(inXMPOf: header)
        if time == nil { time = name.flatMap { PhotoTime(fileName: $0) } }
    }

    private static func time(
        _ tags: TIFFStructure, _ fields: [Int: TIFFStructure.Field],
        date: Int, fraction: Int, zone: Int
    ) throws(MediaError) -> PhotoTime? {
        PhotoTime(
            exif: try tags.text(fields[date]), fraction: try tags.text(fields[fraction]),
            zone: try tags.text(fields[zone]))
    }

    /// The satellites' clock, which is in UTC (EXIF 2.32, 4.6.6).
    private static func satelliteTime(
        _ tags: TIFFStructure, _ fields: [Int: TIFFStructure.Field]
    ) throws(MediaError) -> PhotoTime? {
        guard let day = try tags.text(fields[0x1D]), var clock = WallClockTime(day),
            let parts = try tags.fractions(fields[0x07], count: 3), parts.allSatisfy({ $0 < 61 })
        else { return nil }
        (clock.hour, clock.minute, clock.second) = (Int(parts[0]), Int(parts[1]), Int(parts[2]))
        return PhotoTime(clock: clock, zone: 0, source: .gps)
    }

    private static func time(inXMPOf header: JPEGHeader) -> PhotoTime? {
        for (namespace, name) in [
            ("http://ns.adobe.com/exif/1.0/", "DateTimeOriginal"), ("http://ns.adobe.com/xap/1.0/", "CreateDate"),
            ("http://ns.adobe.com/photoshop/1.0/", "DateCreated"),
        ] {
            let text = header.xmpProperties(of: namespace)[name]
            if let time = text.flatMap(PhotoTime.init(iso8601:)) { return time }
        }
        return nil
    }

    private static func place(
        _ tags: TIFFStructure, _ fields: [Int: TIFFStructure.Field]
    ) throws(MediaError) -> Place? {
        let latitude = try degrees(tags, fields[1], fields[2], negative: "S", limit: 90)
        let longitude = try degrees(tags, fields[3], fields[4], negative: "W", limit: 180)
        guard let latitude, let longitude else { return nil }
        return Place(latitude: latitude, longitude: longitude)
    }

    private static func degrees(
        _ tags: TIFFStructure, _ side: TIFFStructure.Field?,
        _ angle: TIFFStructure.Field?, negative: String, limit: Double
    ) throws(MediaError) -> Double? {
        guard let side = try tags.text(side), let parts = try tags.fractions(angle, count: 3) else {
            return nil
        }
        let value = parts[0] + parts[1] / 60 + parts[2] / 3600
        return Place.degrees(value, isNegative: side == negative, limit: limit)
    }

    private static func trimmed(_ text: String) -> String? {
        let start = text.drop { $0 == " " }
        let end = start.lastIndex { $0 != " " }
        return end.map { String(start[...$0]) }
    }
}

extension PhotoDetails.Place {
    /// The place in a photo's XMP; nil without one, or for one that is not on Earth.
    init?(xmpOf header: JPEGHeader) {
        let tags = header.xmpProperties(of: "http://ns.adobe.com/exif/1.0/")
        guard let latitude = tags["GPSLatitude"].flatMap({ Self.degrees($0, sides: ("N", "S"), limit: 90) }),
            let longitude = tags["GPSLongitude"].flatMap({ Self.degrees($0, sides: ("E", "W"), limit: 180) })
        else { return nil }
        self.init(latitude: latitude, longitude: longitude)
    }

    /// Reads `47,25.123N` and `47,25,7.4N` (the XMP Specification, part 2, 2.4: GPSCoordinate), and the plain degrees
    /// that some programs write, with a side or with a sign.
    private static func degrees(_ text: String, sides: (positive: Character, negative: Character), limit: Double)
        -> Double?
    {
        var digits = text[...]
        let side = digits.last.flatMap { $0 == sides.positive || $0 == sides.negative ? $0 : nil }
        if side != nil { digits.removeLast() }
        let isSigned = side == nil && digits.first == "-"
        if isSigned { digits.removeFirst() }
        let parts = digits.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= (side == nil ? 1 : 3) else { return nil }
        var (value, unit) = (0.0, 1.0)
        for part in parts {
            guard part.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let number = Double(part),
                unit == 1 || number < 60
            else { return nil }
            value += number * unit
            unit /= 60
        }
        return degrees(value, isNegative: isSigned || side == sides.negative, limit: limit)
    }

    /// Degrees with their sign; nil for more than there are.
    fileprivate static func degrees(_ value: Double, isNegative: Bool, limit: Double) -> Double? {
        guard value <= limit else { return nil }
        // A millionth of a degree is a hand's breadth.
        let rounded = (value * 1e6).rounded() / 1e6
        return isNegative ? -rounded : rounded
    }
}
