extension PhotoDetails.Place {
    /// The place that a photo's XMP tells of; nil when it tells of none, or of none on Earth.
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
        guard value <= limit else { return nil }
        // A millionth of a degree is a hand's breadth.
        let rounded = (value * 1e6).rounded() / 1e6
        return isSigned || side == sides.negative ? -rounded : rounded
    }
}
