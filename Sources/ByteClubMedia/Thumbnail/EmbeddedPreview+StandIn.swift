extension EmbeddedPreview {
    /// The smallest preview that can stand for its photo where a picture of a target size is made, and its bytes.
    ///
    /// It has the photo's aspect, to a pixel, and its colours, says nothing else about the orientation, and is half as
    /// large again as the target. Editors leave previews behind that show what was there before: so that of the
    /// multi-picture format has to begin right after the end of the photo, which no other length of it leaves it. The
    /// one in EXIF has no such mark, and is taken only for progressive photos, whose decoding takes several times as
    /// long.
    static func standIn(
        for header: JPEGHeader, in source: borrowing some ByteSource & ~Copyable, target: (width: Int, height: Int)
    ) throws(MediaError) -> (header: JPEGHeader, bytes: [UInt8])? {
        for preview in try previews(of: header, in: source)
        where ThumbnailPlan.suffices((preview.width, preview.height), for: target)
            && preview.width < header.width && preview.range.count <= source.count
        {
            let skew = abs(preview.width * header.height - preview.height * header.width)
            guard skew <= max(header.width, header.height) else { continue }
            switch preview.origin {
            case .exif: guard header.isProgressive else { continue }
            case .mpf:
                guard try source.read(at: preview.range.lowerBound - 2, count: 2) == [0xFF, 0xD9] else { continue }
            }
            let bytes = try source.read(at: preview.range.lowerBound, count: preview.range.count)
            guard let own = try? JPEGHeader(bytes: bytes), own.components == header.components,
                own.estimatedDecodeBytes == 0, own.orientation == 1 || own.orientation == header.orientation
            else { continue }
            return (own, bytes)
        }
        return nil
    }
}
