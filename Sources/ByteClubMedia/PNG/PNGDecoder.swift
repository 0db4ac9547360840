internal import CPNG
internal import CZlib

/// Decodes PNG files of every kind to 8 bits: grey, colour or palette, 1 to 16 bits, interlaced or not.
///
/// What can be seen through is laid on white. Decoding blocks; give it a thread.
enum PNGDecoder {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Whether the bytes begin like a PNG file (ISO/IEC 15948, 5.2).
    static func takes(_ source: some ByteSource) throws(MediaError) -> Bool {
        try source.read(at: 0, count: signature.count) == signature
    }

    /// The picture in its full size.
    ///
    /// `work` are the bytes that the caller needs beside it for a picture of the size it is given.
    ///
    /// - Throws: `tooLarge`, and what `work` throws, before a picture beyond the budget is decoded; `damaged`, also for
    ///   one that was cut short.
    static func decode(
        _ bytes: [UInt8], budget: DecodeBudget = DecodeBudget(),
        work: (Int, Int) throws(MediaError) -> Int = { _, _ in 0 }
    ) throws(MediaError) -> Raster {
        var image = unsafe png_image()
        unsafe image.version = png_uint_32(PNG_IMAGE_VERSION)
        defer { unsafe png_image_free(&image) }
        let result: Result<Raster, MediaError> = unsafe bytes.withUnsafeBytes { source in
            guard unsafe png_image_begin_read_from_memory(&image, source.baseAddress, source.count) != 0 else {
                return .failure(unsafe failure(image))
            }
            let (width, height) = unsafe (Int(image.width), Int(image.height))
            let isGrey = unsafe image.format & png_uint_32(PNG_FORMAT_FLAG_COLOR) == 0
            let channels = isGrey ? 1 : 3
            do throws(MediaError) {
                try budget.check(
                    width: width, height: height, bytes: width * height * channels + bytes.count + work(width, height))
            } catch { return .failure(error) }
            unsafe image.format = isGrey ? 0 : png_uint_32(PNG_FORMAT_FLAG_COLOR)
            // 16 bits without a gamma mean what 8 bits would.
            unsafe image.flags |= png_uint_32(PNG_IMAGE_FLAG_16BIT_sRGB)
            var white = png_color(red: 255, green: 255, blue: 255)
            var pixels = [UInt8](repeating: 255, count: width * height * channels)
            let status = unsafe pixels.withUnsafeMutableBytes { target in
                unsafe png_image_finish_read(&image, &white, target.baseAddress, Int32(width * channels), nil)
            }
            guard status != 0 else { return .failure(unsafe failure(image)) }
            return .success(Raster(width: width, height: height, channels: channels, pixels: pixels))
        }
        return try result.get()
    }

    private static func failure(_ image: png_image) -> MediaError {
        let reason = unsafe withUnsafeBytes(of: image.message) { text in
            unsafe String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
        return MediaError(.damaged, "the PNG cannot be decoded: \(reason)")
    }

    /// The colour profile (11.3.3.3); nil without one or when it is broken or larger than is carried.
    static func profile(_ bytes: [UInt8]) -> [UInt8]? {
        var offset = signature.count
        while let length = bytes.uint32(at: offset) {
            guard offset + 8 <= bytes.count, !bytes.starts(with: "IDAT", at: offset + 4) else { return nil }
            let body = offset + 8..<min(bytes.count, offset + 8 + length)
            if bytes.starts(with: "iCCP", at: offset + 4) {
                // A name of its own, a zero, the method of compression, which is always 0, and the deflated profile.
                guard let end = bytes[body].firstIndex(of: 0), end + 2 < body.upperBound else { return nil }
                return inflated(bytes[(end + 2)..<body.upperBound])
            }
            offset = body.upperBound + 4
        }
        return nil
    }

    private static func inflated(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        let profile = unsafe [UInt8](unsafeUninitializedCapacity: CarriedMetadata.largestProfile) { target, filled in
            var size = uLong(target.count)
            let status = unsafe bytes.withUnsafeBufferPointer { source in
                unsafe uncompress(target.baseAddress, &size, source.baseAddress, uLong(source.count))
            }
            filled = status == Z_OK ? Int(size) : 0
        }
        return profile.isEmpty ? nil : profile
    }
}
