/// What decoding one photo may cost; known from its header, so bombs are refused before anything is decoded.
struct DecodeBudget: Sendable {
    /// Compressed bytes, coefficients and pixels together.
    var bytes = 512 << 20
    /// Pixels of the stored picture, which bound the time; real panoramas reach 140 million.
    var pixels = 500_000_000
    /// Steps from coefficient to coefficient in all scans, each about a nanosecond.
    ///
    /// They limit small files of many scans. A panorama of 140 million pixels in the ten scans that libjpeg makes needs
    /// 540 million.
    var steps = 640_000_000

    /// Refuses a JPEG that is too expensive to decode at a scaled size; `work` is the memory in bytes for further
    /// processing.
    func check(
        _ header: JPEGHeader, fileBytes: Int, width: Int, height: Int, work: Int = 0
    ) throws(MediaError) {
        let channels = max(3, header.components)
        let cost = fileBytes.addingClamped(header.estimatedDecodeBytes).addingClamped(width * height * channels)
        try check(width: header.width, height: header.height, bytes: cost.addingClamped(work))
    }

    /// Refuses a picture of a stored size that needs too many bytes in all.
    func check(width: Int, height: Int, bytes cost: Int) throws(MediaError) {
        // TurboJPEG accepts sides up to 65,500.
        guard width <= 65_500, height <= 65_500, width * height <= pixels else {
            throw MediaError(.tooLarge, "a photo of \(width)x\(height) pixels is too large")
        }
        guard cost <= bytes else {
            throw MediaError(
                .tooLarge,
                "decoding this photo of \(width)x\(height) would take \(cost >> 20) MiB; \(bytes >> 20) are allowed")
        }
    }

    /// Refuses a picture whose scans take too many steps.
    func check(_ scans: ScanWalk, of header: JPEGHeader) throws(MediaError) {
        let frame = header.frame
        var taken = 0
        for scan in scans {
            let blocks = scan.components.reduce(0) { $0 + frame.blocks(ofComponent: $1) }
            taken += blocks * Self.stepsPerBlock(scan, frame)
            guard taken <= steps else {
                throw MediaError(
                    .tooLarge,
                    "decoding this photo of \(header.width)x\(header.height) would take too many passes over it")
            }
        }
    }

    /// What going through a block costs at most, beyond the reading of the file's own bits; measured with
    /// libjpeg-turbo.
    private static func stepsPerBlock(_ scan: ScanHeader, _ frame: FrameHeader) -> Int {
        let coefficients = frame.isProgressive ? scan.coefficients : 64
        // An arithmetic decoder works for each coefficient, however few bits there are.
        if frame.isArithmetic { return max(16, 10 * coefficients) }
        if !frame.isProgressive { return 32 }
        // A first scan passes over blocks without bits, a refining one looks for what it refines.
        return scan.isRefining ? max(16, coefficients) : 16
    }
}
