internal import CTurboJPEG

/// Owns a TurboJPEG compressor and frees it.
///
/// Encoding blocks; give it a thread.
@safe struct JPEGEncoder: ~Copyable {
    /// Owns a buffer that TurboJPEG allocates.
    @safe private struct Output: ~Copyable {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0

        init() {
            unsafe bytes = nil
        }

        deinit {
            unsafe tjFree(bytes)
        }

        var array: [UInt8] {
            unsafe Array(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count)))
        }
    }

    private let handle: tjhandle

    init() throws(MediaError) {
        guard let handle = unsafe tjInitCompress() else {
            throw MediaError(.io, "no memory for a JPEG encoder")
        }
        unsafe self.handle = handle
    }

    deinit {
        _ = unsafe tjDestroy(handle)
    }

    /// A baseline JPEG with 4:2:0 sampling.
    ///
    /// Quality is clamped to 1...100.
    func encode(_ raster: Raster, quality: Int) throws(MediaError) -> [UInt8] {
        var output = Output()
        let isGrey = raster.channels == 1
        let format = isGrey ? TJPF_GRAY : TJPF_RGB
        let sampling = isGrey ? TJSAMP_GRAY : TJSAMP_420
        let status = unsafe raster.pixels.withUnsafeBufferPointer { source in
            unsafe tjCompress2(
                handle, source.baseAddress, Int32(raster.width), Int32(raster.rowBytes), Int32(raster.height),
                Int32(format.rawValue), &output.bytes, &output.count, Int32(sampling.rawValue),
                Int32(min(max(quality, 1), 100)), TJFLAG_ACCURATEDCT)
        }
        return try written(output, status)
    }

    /// A baseline JPEG of planes with their sampling, whose colours are not converted.
    ///
    /// Quality is clamped to 1...100.
    func encode(_ picture: YCbCrPicture, quality: Int) throws(MediaError) -> [UInt8] {
        var output = Output()
        // TurboJPEG reads the luma of all pixels that a sample of chroma covers.
        let (blue, red) = (picture.chroma[0].raster, picture.chroma[1].raster)
        let luma = picture.luma.raster.framed(
            width: picture.sampling.across * blue.width, height: picture.sampling.down * blue.height)
        let status = unsafe luma.pixels.withUnsafeBufferPointer { luma in
            unsafe blue.pixels.withUnsafeBufferPointer { blue in
                unsafe red.pixels.withUnsafeBufferPointer { red in
                    var planes = unsafe [luma.baseAddress, blue.baseAddress, red.baseAddress]
                    return unsafe tjCompressFromYUVPlanes(
                        handle, &planes, Int32(picture.width), nil, Int32(picture.height),
                        Int32(picture.sampling.turboJPEG.rawValue), &output.bytes, &output.count,
                        Int32(min(max(quality, 1), 100)),
                        TJFLAG_ACCURATEDCT)
                }
            }
        }
        return try written(output, status)
    }

    private func written(_ output: borrowing Output, _ status: Int32) throws(MediaError) -> [UInt8] {
        guard status == 0 else {
            let reason = unsafe tjGetErrorStr2(handle).map { unsafe String(cString: $0) } ?? "unknown"
            throw MediaError(.io, "the JPEG cannot be written: \(reason)")
        }
        return output.array
    }
}
