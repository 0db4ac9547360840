internal import CTurboJPEG
internal import Glibc

/// Owns a TurboJPEG decompressor and frees it.
///
/// Decoding blocks; give it a thread.
@safe struct JPEGDecoder: ~Copyable {
    /// Sets libjpeg's own limit for coefficients once, as a second wall should a header have been misread.
    private static let memoryWall: Void = {
        _ = unsafe setenv("JPEGMEM", "600M", 0)
    }()

    private let handle: tjhandle

    init() throws(MediaError) {
        Self.memoryWall
        guard let handle = unsafe tjInitDecompress() else {
            throw MediaError(.io, "no memory for a JPEG decoder")
        }
        unsafe self.handle = handle
    }

    deinit {
        _ = unsafe tjDestroy(handle)
    }

    /// A side at `eighths` of its size, as libjpeg rounds it.
    static func scaled(_ side: Int, eighths: Int) -> Int {
        (side * eighths + 7) / 8
    }

    /// Decodes at an eighth to the full size.
    ///
    /// A picture with broken or missing parts is delivered as far as possible. TurboJPEG cannot be stopped, so the cost
    /// of a picture is limited before.
    ///
    /// - Throws: `tooLarge` for a picture beyond the budget, before it is decoded; `damaged`.
    func decode(
        _ bytes: [UInt8], header: JPEGHeader, eighths: Int = 8, budget: DecodeBudget = DecodeBudget()
    ) throws(MediaError) -> Raster {
        let (width, height) = try check(bytes, header, eighths, budget)
        let (format, channels): (TJPF, Int) =
            switch header.components {
            case 1: (TJPF_GRAY, 1)
            case 4: (TJPF_CMYK, 4)
            default: (TJPF_RGB, 3)
            }
        var pixels = [UInt8](repeating: 0, count: width * height * channels)
        try attempt(bytes, header) { bytes in
            unsafe bytes.withUnsafeBufferPointer { source in
                unsafe pixels.withUnsafeMutableBufferPointer { target in
                    unsafe tjDecompress2(
                        handle, source.baseAddress, UInt(source.count), target.baseAddress, Int32(width),
                        Int32(width * channels), Int32(height), Int32(format.rawValue), TJFLAG_LIMITSCANS)
                }
            }
        }
        guard channels == 4 else { return Raster(width: width, height: height, channels: channels, pixels: pixels) }
        return Raster(
            width: width, height: height, channels: 3, pixels: Self.rgb(cmyk: pixels, isInverted: header.isAdobe))
    }

    /// Decodes the planes at an eighth to the full size, their colours as they are stored; nil for a JPEG that is not kept
    /// in YCbCr, or in an unusual sampling.
    ///
    /// A picture with broken parts, and what it may cost, are as with ``decode(_:header:eighths:budget:)``.
    ///
    /// - Throws: As there.
    func decodePlanes(
        _ bytes: [UInt8], header: JPEGHeader, eighths: Int = 8, budget: DecodeBudget = DecodeBudget()
    ) throws(MediaError) -> YCbCrPicture? {
        guard let sampling = header.frame.chromaSampling, isYCbCr(bytes, header, sampling) else { return nil }
        let (width, height) = try check(bytes, header, eighths, budget)
        // A sample of luma covers eight parts of a pixel, of which there are as many as the scale has eighths.
        let across = PlaneAxis(pixels: header.width * eighths, step: 8)
        let down = PlaneAxis(pixels: header.height * eighths, step: 8)
        // TurboJPEG gives whole samples of chroma, and the luma of all pixels that they stand for.
        let columns = across.coarser(by: sampling.across).samples
        let rows = down.coarser(by: sampling.down).samples
        let lumaWidth = columns * sampling.across
        let lumaSize = lumaWidth * rows * sampling.down
        var samples = [UInt8](repeating: 128, count: lumaSize + 2 * columns * rows)
        try attempt(bytes, header) { bytes in
            unsafe bytes.withUnsafeBufferPointer { source in
                unsafe samples.withUnsafeMutableBufferPointer { target in
                    unsafe tjDecompressToYUV2(
                        handle, source.baseAddress, UInt(source.count), target.baseAddress, Int32(width), 1,
                        Int32(height), TJFLAG_LIMITSCANS)
                }
            }
        }
        let chroma = [0, 1].map {
            Plane(
                width: columns, height: rows, bytes: samples, start: lumaSize + $0 * columns * rows, stride: columns)
        }
        return YCbCrPicture(
            luma: Plane(width: width, height: height, bytes: samples, stride: lumaWidth), chroma: chroma,
            sampling: sampling, columns: across, rows: down)
    }

    /// Whether the library decodes the components as Y, Cb and Cr, and reads the size and the sampling for which memory
    /// is allocated.
    private func isYCbCr(_ bytes: [UInt8], _ header: JPEGHeader, _ expected: YCbCrPicture.Sampling) -> Bool {
        var (width, height, sampling, colours): (Int32, Int32, Int32, Int32) = (0, 0, -1, -1)
        let status = unsafe bytes.withUnsafeBufferPointer { source in
            unsafe tjDecompressHeader3(
                handle, source.baseAddress, UInt(source.count), &width, &height, &sampling, &colours)
        }
        return status == 0 && colours == Int32(TJCS_YCbCr.rawValue)
            && width == Int32(header.width) && height == Int32(header.height)
            && sampling == Int32(expected.turboJPEG.rawValue)
    }

    /// The size at a scale, of a picture that is within the budget.
    private func check(
        _ bytes: [UInt8], _ header: JPEGHeader, _ eighths: Int, _ budget: DecodeBudget
    ) throws(MediaError) -> (width: Int, height: Int) {
        let width = Self.scaled(header.width, eighths: eighths)
        let height = Self.scaled(header.height, eighths: eighths)
        try budget.check(header, fileBytes: bytes.count, width: width, height: height)
        // For a single scan the size is enough, unless arithmetic coding dominates the time.
        if header.estimatedDecodeBytes > 0 || header.frame.isArithmetic {
            try budget.check(ScanWalk(bytes), of: header)
        }
        return (width, height)
    }

    /// Decodes a photo; when what follows a picture without an end is what keeps it from being decoded, without that.
    private func attempt(
        _ bytes: [UInt8], _ header: JPEGHeader, _ decode: ([UInt8]) -> Int32
    ) throws(MediaError) {
        if hasSucceeded(decode(bytes)) { return }
        if let ended = header.endedPicture(bytes), hasSucceeded(decode(ended)) { return }
        let reason = unsafe tjGetErrorStr2(handle).map { unsafe String(cString: $0) } ?? "unknown"
        throw MediaError(.damaged, "the JPEG cannot be decoded: \(reason)")
    }

    /// Whether there are pixels, if only of the parts that are not broken.
    private func hasSucceeded(_ status: Int32) -> Bool {
        unsafe status == 0 || tjGetErrorCode(handle) == TJERR_WARNING.rawValue
    }

    /// Plain conversion without a profile; Adobe writes CMYK as the light that is left, not the ink.
    private static func rgb(cmyk: [UInt8], isInverted: Bool) -> [UInt8] {
        let flip: UInt8 = isInverted ? 0 : 255
        return unsafe [UInt8](unsafeUninitializedCapacity: cmyk.count / 4 * 3) { target, filled in
            for pixel in 0..<cmyk.count / 4 {
                let black = Int(cmyk[4 * pixel + 3] ^ flip)
                for channel in 0..<3 {
                    unsafe target[3 * pixel + channel] = UInt8(Int(cmyk[4 * pixel + channel] ^ flip) * black / 255)
                }
            }
            filled = cmyk.count / 4 * 3
        }
    }
}
