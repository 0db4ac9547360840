/// The pixels of a photo in the form that makes the least work: planes as JPEG has them, else grey or red, green and
/// blue.
enum PhotoPixels: Sendable, Hashable {
    case planes(YCbCrPicture)
    case raster(Raster)

    /// The scales in eighths that a JPEG is decoded at when it is made smaller, from the smallest.
    ///
    /// libjpeg has vector code for a half and a quarter, not for three eighths: of planes, whose colours need no
    /// conversion, a half is faster.
    static func scales(for header: JPEGHeader, isRGB: Bool) -> [Int] {
        isPlanar(header, isRGB: isRGB) ? [1, 2, 4] : [1, 2, 3, 4]
    }

    /// Whether a JPEG is decoded to planes, unless its three components are no YCbCr.
    static func isPlanar(_ header: JPEGHeader, isRGB: Bool) -> Bool {
        header.frame.chromaSampling != nil && !isRGB
    }

    /// Decodes a JPEG at an eighth to the full size.
    ///
    /// - Throws: `tooLarge` for a picture beyond the budget, before it is decoded; `damaged`.
    init(
        jpeg bytes: [UInt8], header: JPEGHeader, eighths: Int, isRGB: Bool, budget: DecodeBudget
    ) throws(MediaError) {
        let decoder = try JPEGDecoder()
        if !isRGB,
            let planes = try decoder.decodePlanes(bytes, header: header, eighths: eighths, budget: budget)
        {
            self = .planes(planes)
        } else {
            self = .raster(try decoder.decode(bytes, header: header, eighths: eighths, budget: budget))
        }
    }

    var size: (width: Int, height: Int) {
        switch self {
        case .planes(let picture): (picture.width, picture.height)
        case .raster(let raster): (raster.width, raster.height)
        }
    }

    /// The picture at another size by Lanczos-3, then turned by an EXIF orientation.
    func resampled(width: Int, height: Int, orientation: Int = 1) -> PhotoPixels {
        switch self {
        case .planes(let picture):
            .planes(picture.resampled(width: width, height: height, orientation: orientation))
        case .raster(let raster):
            .raster(raster.resampled(width: width, height: height).oriented(orientation))
        }
    }

    /// A JPEG file of the picture, which has been through ``resampled(width:height:orientation:)``.
    func jpeg(_ encoder: borrowing JPEGEncoder, quality: Int, profile: [UInt8]?) throws(MediaError) -> [UInt8] {
        let bytes =
            switch self {
            case .planes(let picture): try encoder.encode(picture, quality: quality)
            case .raster(let raster): try encoder.encode(raster, quality: quality)
            }
        return CarriedMetadata(icc: profile).spliced(into: bytes)
    }
}
