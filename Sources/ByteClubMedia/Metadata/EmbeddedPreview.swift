/// A small picture of a photo that its camera put into the same file.
struct EmbeddedPreview: Sendable, Hashable {
    /// Where the camera wrote down that it is there.
    enum Origin: Sendable, Hashable {
        /// The second directory of EXIF (EXIF 2.32, 4.5.8).
        case exif
        /// The multi-picture format's index (CIPA DC-007, 5.2).
        case mpf
    }

    let origin: Origin
    /// The preview's JPEG file in the photo's file, from its first byte on.
    let range: Range<Int>
    /// Pixels as stored, before any orientation.
    let width: Int
    let height: Int

    /// The previews of a photo that have a JPEG's frame header, from the smallest to the largest.
    ///
    /// Reads a few hundred bytes, and no picture. Whether a preview shows the photo is for the caller to judge.
    static func previews(of header: JPEGHeader, in source: some ByteSource) throws(MediaError) -> [EmbeddedPreview] {
        var found: [EmbeddedPreview] = []
        if let range = try thumbnail(header, source), let preview = try preview(.exif, range, source) {
            found.append(preview)
        }
        for range in try pictures(header, source) {
            if let preview = try preview(.mpf, range, source) { found.append(preview) }
        }
        return found.sorted { $0.width * $0.height < $1.width * $1.height }
    }

    private static func thumbnail(_ header: JPEGHeader, _ source: some ByteSource) throws(MediaError) -> Range<Int>? {
        guard let range = header.exifRange, let tags = try TIFFStructure(source, range),
            let next = try tags.next(after: tags.first)
        else { return nil }
        let fields = try tags.directory(at: next)
        guard let offset = tags.integer(fields[0x0201]), let size = tags.integer(fields[0x0202]), size > 0,
            offset >= 8, offset <= range.count - size
        else { return nil }
        return range.lowerBound + offset..<range.lowerBound + offset + size
    }

    private static func pictures(_ header: JPEGHeader, _ source: some ByteSource) throws(MediaError) -> [Range<Int>] {
        guard let range = header.mpfRange, let tags = try TIFFStructure(source, range),
            let entries = try tags.data(tags.directory(at: tags.first)[0xB002], limit: 64 * 16)
        else { return [] }
        return stride(from: 0, to: entries.count - 15, by: 16).compactMap { entry in
            let size = tags.number(entries[entry + 4..<entry + 8])
            let offset = tags.number(entries[entry + 8..<entry + 12])
            // The first picture is the photo itself and has no offset.
            guard size > 0, offset > 0, range.lowerBound + offset <= source.count - size else { return nil }
            return range.lowerBound + offset..<range.lowerBound + offset + size
        }
    }

    private static func preview(
        _ origin: Origin, _ range: Range<Int>, _ source: some ByteSource
    ) throws(MediaError) -> EmbeddedPreview? {
        guard try source.read(at: range.lowerBound, count: 2) == [0xFF, 0xD8] else { return nil }
        var offset = range.lowerBound + 2
        for _ in 0..<64 {
            let head = try source.read(at: offset, count: 4)
            guard offset < range.upperBound, head.count == 4, head[0] == 0xFF, let length = head.uint16(at: 2),
                head[1] != 0xDA
            else { return nil }
            if FrameHeader.isStartOfFrame(head[1]) {
                let body = try source.read(at: offset + 4, count: min(18, max(0, length - 2)))
                guard let frame = try? FrameHeader(marker: head[1], body: body) else { return nil }
                return EmbeddedPreview(origin: origin, range: range, width: frame.width, height: frame.height)
            }
            offset += 2 + length
        }
        return nil
    }
}

extension EmbeddedPreview {
    /// The smallest preview that can stand for its photo where a picture of a target size is made, and its bytes.
    ///
    /// It has the photo's aspect, to a pixel, its colours and no other orientation, and is half as large again as the
    /// target. Editors leave outdated previews behind. The one of the multi-picture format must therefore begin right
    /// after the end of the photo, as it does not after any change of length. The one in EXIF has no such mark, and is
    /// used only for progressive photos, whose decoding needs several times as long.
    static func standIn(
        for header: JPEGHeader, in source: some ByteSource, target: (width: Int, height: Int)
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
