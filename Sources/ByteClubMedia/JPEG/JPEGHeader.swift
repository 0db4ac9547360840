/// The segments of a JPEG before its first scan.
///
/// Reading it walks the segments by their lengths and reads only the bodies that matter, so it costs a few KiB even for
/// a photo with megabytes of metadata. The picture itself is never read.
public struct JPEGHeader: Sendable, Hashable {
    /// Pixels across as stored, before any orientation, 1 to 65,535.
    public let width: Int
    /// Pixels down as stored, before any orientation, 1 to 65,535.
    public let height: Int
    /// Whether the picture has refining scans, which need memory for every coefficient.
    let isProgressive: Bool
    /// Colour components: 1 grey, 3 colour, 4 CMYK.
    public let components: Int
    /// The EXIF orientation, 1 to 8; 1 when none or nonsense is given.
    public let orientation: Int
    /// EXIF CustomRendered (0xA401); phones write 6 for their panoramas.
    let customRendered: Int?
    /// The focal length as on 35 mm film, in millimetres; nil when unknown.
    let focalLength35mm: Int?
    /// Where the ICC profile's parts lie in the file, in their right order; empty when there is none or it is
    /// incomplete.
    let iccRanges: [Range<Int>]
    /// Bytes that a decoder must keep for coefficients, whatever the scale; 0 for a picture in a single scan.
    let estimatedDecodeBytes: Int

    let frame: FrameHeader
    let scanStart: Int
    /// Whether there is a JFIF segment, which defines the meaning of the components (ITU T.871, 10.1).
    let isJFIF: Bool
    /// The meaning of the components by Adobe's segment: 0 as they are, 1 YCbCr, 2 YCCK; nil without one.
    let adobeTransform: UInt8?
    var isAdobe: Bool { adobeTransform != nil }
    let exifRange: Range<Int>?
    /// All XMP of the photo: its standard packets in the file's order, then the extended one that they announce.
    let xmpPackets: [[UInt8]]
    /// How many of the packets are standard ones.
    let standardPackets: Int
    /// The multi-picture format's TIFF structure (CIPA DC-007, 5.1).
    let mpfRange: Range<Int>?

    /// Reads the header of a file, seeking from segment to segment.
    ///
    /// Blocks for the file's storage. Errors: `io`, `notAJPEG`, `damaged`, `unsupported`.
    public init(file path: String) throws(MediaError) {
        let source = try FileSource(path: path)
        try self.init(source)
    }

    /// Reads the header from bytes in memory; the first part of a file is enough if it reaches the first scan.
    ///
    /// Errors: `notAJPEG`, `damaged`, `unsupported`.
    public init(bytes: [UInt8]) throws(MediaError) {
        try self.init(MemorySource(bytes: bytes))
    }

    init(_ source: some ByteSource) throws(MediaError) {
        var walk = try SegmentWalk(source)
        var frame: FrameHeader?
        var exif: Range<Int>?
        var xmp = XMPParts()
        var icc = ICCParts()
        var mpf: Range<Int>?
        var isJFIF = false
        var adobe: UInt8?
        var scan: [UInt8] = []
        var scanStart = 0
        while scan.isEmpty {
            let segment = try walk.next(source)
            switch segment.marker {
            case 0xDA:
                scan = try source.read(at: segment.body.lowerBound, count: 1)
                scanStart = segment.body.upperBound
                guard !scan.isEmpty else { throw MediaError(.damaged, "the JPEG ends before its picture begins") }
            case 0xE1:
                let start = try source.read(
                    at: segment.body.lowerBound, count: min(XMPParts.headBytes, segment.body.count))
                if exif == nil, start.starts(with: "Exif\0\0") { exif = segment.body.dropFirst(6) }
                xmp.add(segment.body, start: start)
            case 0xE2:
                let start = try source.read(at: segment.body.lowerBound, count: min(14, segment.body.count))
                icc.add(segment.body, start: start)
                if mpf == nil, start.starts(with: "MPF\0") { mpf = segment.body.dropFirst(4) }
            case 0xE0:
                let start = try source.read(at: segment.body.lowerBound, count: min(14, segment.body.count))
                if start.count == 14, start.starts(with: "JFIF\0") { isJFIF = true }
            case 0xEE:
                // A decoder accepts no shorter one, and uses the last of several.
                let start = try source.read(at: segment.body.lowerBound, count: min(12, segment.body.count))
                if start.count == 12, start.starts(with: "Adobe") { adobe = start[11] }
            case let marker where FrameHeader.isStartOfFrame(marker):
                let body = try source.read(at: segment.body.lowerBound, count: min(18, segment.body.count))
                guard frame == nil else { throw MediaError(.damaged, "the JPEG has two frame headers") }
                frame = try FrameHeader(marker: marker, body: body)
            default:
                break
            }
        }
        guard let frame else { throw MediaError(.damaged, "the JPEG has no frame header") }
        guard frame.precision == 8, [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(frame.marker) else {
            throw MediaError(
                .unsupported, "a JPEG of a kind that cannot be shown here (lossless or \(frame.precision)-bit)")
        }
        self.frame = frame
        self.scanStart = scanStart
        self.width = frame.width
        self.height = frame.height
        self.isProgressive = frame.isProgressive
        self.components = frame.components.count
        let isOneScan = !frame.isProgressive && Int(scan[0]) == frame.components.count
        self.estimatedDecodeBytes = isOneScan ? 0 : frame.coefficientBytes
        let tags = try exif.map { range throws(MediaError) in try EXIF(source, range) }
        self.orientation = tags?.orientation ?? 1
        self.customRendered = tags?.customRendered
        self.focalLength35mm = tags?.focalLength35mm
        let standard = try xmp.standard(source)
        self.xmpPackets = try standard + xmp.extended(source, announcedIn: standard)
        self.standardPackets = standard.count
        self.iccRanges = icc.ranges
        self.isJFIF = isJFIF
        self.adobeTransform = adobe
        self.exifRange = exif
        self.mpfRange = mpf
    }
}

extension JPEGHeader {
    /// The properties of one namespace in all XMP packets, by local name; the first of a name wins.
    func xmpProperties(of namespace: String) -> [String: String] {
        xmpPackets.reduce(into: [:]) { found, packet in
            found.merge(XMPPacket.properties(of: namespace, in: packet)) { first, _ in first }
        }
    }

    /// Whether the picture of this header's file is complete.
    ///
    /// A truncated one is not: coded data cannot contain the marker that ends it (ITU T.81, B.1.1.5). Reads the picture
    /// once, a piece at a time, unless the mark is the file's last; blocks for the file's storage.
    ///
    /// - Throws: A ``MediaError`` with the code `io`.
    public func hasEnd(file path: String) throws(MediaError) -> Bool {
        let source = try FileSource(path: path)
        let last = source.count - 2
        if last >= scanStart, try source.read(at: last, count: 2) == [0xFF, 0xD9] { return true }
        var (offset, wasMark) = (scanStart, false)
        while true {
            let piece = try source.read(at: offset, count: 1 << 18)
            if piece.isEmpty { return false }
            for byte in piece {
                if wasMark, byte == 0xD9 { return true }
                wasMark = byte == 0xFF
            }
            offset += piece.count
        }
    }
}

extension JPEGHeader {
    /// The file up to the end of its picture, with a mark of the end in place of the one that is missing; nil when
    /// there is a mark, or nothing follows.
    ///
    /// In coded data every marker but a restart ends a scan. More of the picture follows only with several scans, and
    /// then begins with tables: anything else is foreign, and decoders fail at most of it though they have all pixels.
    func endedPicture(_ bytes: [UInt8]) -> [UInt8]? {
        var place = scanStart
        while place < bytes.count - 1, let mark = bytes[place..<bytes.count - 1].firstIndex(of: 0xFF) {
            switch bytes[mark + 1] {
            case 0, 0xD0...0xD7: place = mark + 2
            case 0xFF: place = mark + 1
            case 0xD9: return nil
            case let marker:
                guard estimatedDecodeBytes > 0, PictureCopy.isNeeded(marker), !FrameHeader.isStartOfFrame(marker),
                    let length = bytes.uint16(at: mark + 2)
                else { return Array(bytes[..<mark]) + [0xFF, 0xD9] }
                place = mark + 2 + max(2, length)
            }
        }
        return nil
    }
}
