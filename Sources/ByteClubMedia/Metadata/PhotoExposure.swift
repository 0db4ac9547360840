/// How a photo was exposed, from the tags of its camera (EXIF 2.32, 4.6.5); what is missing or makes no sense is nil.
public struct PhotoExposure: Sendable, Hashable {
    /// How long the shutter was open, in seconds.
    public private(set) var seconds: Double?
    /// The f-number.
    public private(set) var aperture: Double?
    /// The sensitivity, as ISO counts it.
    public private(set) var sensitivity: Int?
    /// The focal length in millimetres.
    public private(set) var focalLength: Double?
    /// The focal length that has the same view on 35 mm film, in millimetres.
    public private(set) var focalLength35mm: Int?

    /// Nothing known.
    public init() {}

    init(_ tags: TIFFStructure, _ fields: [Int: TIFFStructure.Field]) throws(MediaError) {
        let fraction = { (tag: Int, limits: ClosedRange<Double>) throws(MediaError) -> Double? in
            try tags.fractions(fields[tag], count: 1)?.first.flatMap { limits.contains($0) ? $0 : nil }
        }
        seconds = try fraction(0x829A, 1e-6...1e5)
        aperture = try fraction(0x829D, 0.5...100)
        focalLength = try fraction(0x920A, 0.1...5000)
        sensitivity = tags.integer(fields[0x8827]).flatMap { $0 > 0 ? $0 : nil }
        focalLength35mm = tags.integer(fields[0xA405]).flatMap { (1...5000).contains($0) ? $0 : nil }
    }

    /// The values as photographers write them, as in `1/250 s`, `f/2.8`, `ISO 100`, `4.3 mm (26 mm)`.
    public var phrases: [String] {
        var lens = focalLength.map { "\(Self.text($0)) mm" }
        if let other = focalLength35mm, Double(other) != focalLength {
            lens = lens.map { "\($0) (\(other) mm on 35 mm film)" } ?? "\(other) mm on 35 mm film"
        }
        return [
            seconds.map { $0 < 0.3 ? "1/\(Int((1 / $0).rounded())) s" : "\(Self.text($0)) s" },
            aperture.map { "f/\(Self.text($0))" }, sensitivity.map { "ISO \($0)" }, lens,
        ].compactMap { $0 }
    }

    private static func text(_ value: Double) -> String {
        let rounded = (value * 10).rounded() / 10
        return rounded == rounded.rounded() ? String(Int(rounded)) : "\(rounded)"
    }
}
