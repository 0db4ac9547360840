/// The sizes on the way from a photo to its thumbnail.
struct ThumbnailPlan: Sendable, Hashable {
    /// The thumbnail's size before the orientation is applied.
    let width: Int
    let height: Int
    /// The scale to decode at: the smallest that still leaves 1.4 times the size, so the filter has something to work
    /// on.
    let eighths: Int

    /// Fits the picture as seen into the box, without enlarging it.
    init(header: JPEGHeader, orientation: Int, box: (width: Int, height: Int)) {
        let isTurned = orientation >= 5
        // No JPEG has a longer side, so a larger box changes nothing.
        let boxWidth = min(isTurned ? box.height : box.width, 65_535)
        let boxHeight = min(isTurned ? box.width : box.height, 65_535)
        let fullWidth = header.width
        let fullHeight = header.height
        if fullWidth <= boxWidth, fullHeight <= boxHeight {
            (width, height) = (fullWidth, fullHeight)
        } else if fullWidth * boxHeight >= fullHeight * boxWidth {
            (width, height) = (boxWidth, max(1, (fullHeight * boxWidth + fullWidth / 2) / fullWidth))
        } else {
            (width, height) = (max(1, (fullWidth * boxHeight + fullHeight / 2) / fullHeight), boxHeight)
        }
        let target = (width, height)
        eighths =
            [1, 2, 4].first { scale in
                JPEGDecoder.scaled(fullWidth, eighths: scale) * 10 >= target.0 * 14
                    && JPEGDecoder.scaled(fullHeight, eighths: scale) * 10 >= target.1 * 14
            } ?? 8
    }
}
