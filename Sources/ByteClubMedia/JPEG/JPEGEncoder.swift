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
        guard status == 0 else {
            let reason = unsafe tjGetErrorStr2(handle).map { unsafe String(cString: $0) } ?? "unknown"
            throw MediaError(.io, "the JPEG cannot be written: \(reason)")
        }
        return output.array
    }
}
