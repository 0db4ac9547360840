/// Photos that say when they were taken, as cameras write it.
public enum DatedPhoto {
    /// A JPEG file with EXIF's DateTimeOriginal, as in `2025:06:22 00:30:00`, and its offset, as in `+09:00`, before all
    /// other segments.
    public static func bytes(_ jpeg: [UInt8], taken date: String, offset: String? = nil) -> [UInt8] {
        let texts = [(0x9003, date)] + (offset.map { [(0x9011, $0)] } ?? [])
        // The header, a directory with the pointer to the next one, and that one; then its texts.
        let first = 8 + 2 + 12 + 4
        var place = first + 2 + 12 * texts.count + 4
        var details = little(texts.count, 2)
        var values: [UInt8] = []
        for (tag, text) in texts {
            let value = Array(text.utf8) + [0]
            details += little(tag, 2) + little(2, 2) + little(value.count, 4) + little(place, 4)
            values += value
            place += value.count
        }
        let main = little(1, 2) + little(0x8769, 2) + little(4, 2) + little(1, 4) + little(first, 4) + little(0, 4)
        let exif = Array("Exif\0\0II*\0".utf8) + little(8, 4) + main + details + little(0, 4) + values
        let segment = [0xFF, 0xE1, UInt8((exif.count + 2) >> 8), UInt8((exif.count + 2) & 255)] + exif
        return Array(jpeg.prefix(2)) + segment + jpeg.dropFirst(2)
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
