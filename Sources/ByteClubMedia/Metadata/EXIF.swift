/// The few EXIF tags that decide how a photo is shown, read entry by entry from a TIFF structure (EXIF 2.32, 4.6).
struct EXIF: Sendable, Hashable {
    private(set) var orientation = 1
    private(set) var customRendered: Int?
    private(set) var focalLength35mm: Int?

    /// Reads the structure in `range`; what is broken is left out, since a photo is shown without it too.
    init(_ source: borrowing some ByteSource & ~Copyable, _ range: Range<Int>) throws(MediaError) {
        guard let tags = try TIFFStructure(source, range) else { return }
        let main = try tags.directory(source, at: tags.first)
        if let value = tags.integer(main[0x0112]), (1...8).contains(value) { orientation = value }
        guard let pointer = tags.integer(main[0x8769]) else { return }
        let details = try tags.directory(source, at: pointer)
        customRendered = tags.integer(details[0xA401])
        focalLength35mm = tags.integer(details[0xA405]).flatMap { $0 > 0 ? $0 : nil }
    }
}
