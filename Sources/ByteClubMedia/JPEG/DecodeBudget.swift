/// What decoding one photo may cost; known from its header, so bombs are refused before anything is decoded.
struct DecodeBudget: Sendable {
    /// Compressed bytes, coefficients and pixels together.
    var bytes = 512 << 20
    /// Pixels of the stored picture, which bound the time; real panoramas reach 140 million.
    var pixels = 500_000_000

    func check(_ header: JPEGHeader, fileBytes: Int, width: Int, height: Int) throws(MediaError) {
        // TurboJPEG takes sides up to 65,500.
        guard header.width <= 65_500, header.height <= 65_500, header.width * header.height <= pixels else {
            throw MediaError(.tooLarge, "a photo of \(header.width)x\(header.height) pixels is too large")
        }
        let channels = max(3, header.components)
        let cost = fileBytes.addingClamped(header.estimatedDecodeBytes).addingClamped(width * height * channels)
        guard cost <= bytes else {
            throw MediaError(
                .tooLarge,
                "decoding this photo of \(header.width)x\(header.height) would take \(cost >> 20) MiB; \(bytes >> 20) are allowed"
            )
        }
    }
}
