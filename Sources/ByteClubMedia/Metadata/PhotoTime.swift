/// The moment a photo was taken, as exactly as the photo tells it.
public struct PhotoTime: Sendable, Hashable {
    /// What said it.
    public enum Source: String, Sendable, Hashable, CaseIterable {
        /// EXIF DateTimeOriginal, or DateTimeDigitized.
        case exif
        /// The satellites' clock in EXIF's GPS tags.
        case gps
        /// A date in the XMP packet.
        case xmp
        /// The file's name.
        case fileName
    }

    /// Seconds since 1970; by UTC when `zone` is known, else by the camera's own clock.
    public let seconds: Int64
    /// Billionths of a second after that, 0 to 999,999,999.
    public let nanoseconds: Int
    /// The local time's distance from UTC in seconds, east is positive, within 14 hours; nil when unknown.
    public let zone: Int?
    /// What said it.
    public internal(set) var source: Source
}

extension PhotoTime {
    /// The moment of a wall clock; nil when no clock shows that.
    init?(clock: WallClockTime?, zone: Int?, source: Source) {
        guard let clock, let seconds = clock.seconds else { return nil }
        let zone = zone.flatMap { abs($0) <= 14 * 3600 ? $0 : nil }
        self.init(
            seconds: seconds - Int64(zone ?? 0), nanoseconds: clock.nanoseconds, zone: zone, source: source)
    }

    /// The moment of `2013:08:05 16:40:12` with the parts that EXIF keeps apart.
    init?(exif text: String?, fraction: String? = nil, zone: String? = nil, source: Source = .exif) {
        // A day alone is no moment in EXIF.
        guard let text, text.utf8.count >= 19, var clock = WallClockTime(text) else { return nil }
        if let fraction { clock.setFraction(fraction[...]) }
        self.init(clock: clock, zone: zone.flatMap { Self.seconds(ofZone: $0[...]) }, source: source)
    }

    /// The moment of XMP's `2013-08-05T16:40:12.25+02:00` (ISO 16684-1, 8.2.1.1); a day alone is its midnight.
    init?(iso8601 text: String) {
        var clock = text[...]
        var zone: Substring?
        if let mark = clock.firstIndex(where: { $0 == "T" || $0 == " " }),
            let start = clock[mark...].firstIndex(where: { $0 == "Z" || $0 == "+" || $0 == "-" })
        {
            zone = clock[start...]
            clock = clock[..<start]
        }
        self.init(
            clock: WallClockTime(String(clock)), zone: zone.flatMap { Self.seconds(ofZone: $0) }, source: .xmp)
    }

    /// The seconds of `+02:00` or `Z`.
    private static func seconds(ofZone text: Substring) -> Int? {
        if text == "Z" { return 0 }
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        let parts = text.dropFirst().split(separator: ":")
        let numbers = parts.map { $0.utf8.allSatisfy { (48...57).contains($0) } ? Int($0) ?? -1 : -1 }
        guard numbers.count == 2, (0...14).contains(numbers[0]), (0...59).contains(numbers[1]) else { return nil }
        return (numbers[0] * 3600 + numbers[1] * 60) * (sign == "-" ? -1 : 1)
    }

    /// This moment with the zone that makes its clock agree with the satellites', to a quarter of an hour as zones are.
    func zoned(by satellites: PhotoTime?) -> PhotoTime {
        guard zone == nil, let satellites else { return self }
        let distance = seconds - satellites.seconds
        let quarters = (Double(distance) / 900).rounded()
        // A camera whose clock is off, or a place found long before, tells nothing.
        guard abs(quarters) <= 56, abs(Double(distance) - quarters * 900) <= 180 else { return self }
        let zone = Int(quarters) * 900
        return PhotoTime(seconds: seconds - Int64(zone), nanoseconds: nanoseconds, zone: zone, source: source)
    }

    /// As EXIF writes the clock's date.
    var exifDate: String { WallClockTime(seconds: seconds + Int64(zone ?? 0)).exif }

    /// As XMP writes the clock's date, without its zone: `2013-08-05T16:40:12.250`.
    var xmpDate: String {
        let clock = WallClockTime(seconds: seconds + Int64(zone ?? 0)).iso8601
        return clock + (exifFraction.map { "." + $0 } ?? "")
    }

    /// As EXIF writes the part of a second, in thousandths; nil when there is none.
    var exifFraction: String? {
        nanoseconds >= 1_000_000 ? WallClockTime.padded(nanoseconds / 1_000_000, 3) : nil
    }
}
