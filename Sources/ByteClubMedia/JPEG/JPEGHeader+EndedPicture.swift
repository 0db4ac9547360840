extension JPEGHeader {
    /// The file up to the end of its picture, with a mark of the end in place of the one that is missing; nil when
    /// there is a mark, or nothing follows.
    ///
    /// In coded data every marker but a restart ends a scan. A picture goes on after it only in several scans, and then
    /// with tables: anything else is not its own, and decoders fail at most of it though they have all pixels.
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
