internal import CTurboJPEG

/// A picture in the form that JPEG keeps colour in: a plane of luma, and two of chroma that may be coarser (ITU T.871).
///
/// A picture that is decoded to it, resized and encoded never has its colours converted.
struct YCbCrPicture: Sendable, Hashable {
    /// How much coarser chroma is than luma, of the ways that TurboJPEG knows.
    enum Sampling: Sendable, Hashable, CaseIterable {
        /// 4:4:4.
        case full
        /// 4:2:2.
        case halfAcross
        /// 4:4:0.
        case halfDown
        /// 4:2:0.
        case half
        /// 4:1:1.
        case quarterAcross

        /// The pixels across that a sample of chroma covers.
        var across: Int { facts.across }
        /// The pixels down that a sample of chroma covers.
        var down: Int { facts.down }
        /// The library's name for it.
        var turboJPEG: TJSAMP { facts.turboJPEG }

        private var facts: (across: Int, down: Int, turboJPEG: TJSAMP) {
            switch self {
            case .full: (1, 1, TJSAMP_444)
            case .halfAcross: (2, 1, TJSAMP_422)
            case .halfDown: (1, 2, TJSAMP_440)
            case .half: (2, 2, TJSAMP_420)
            case .quarterAcross: (4, 1, TJSAMP_411)
            }
        }
    }

    let luma: Plane
    /// Cb and Cr.
    let chroma: [Plane]
    let sampling: Sampling
    /// How samples of luma cover the picture.
    let columns: PlaneAxis
    let rows: PlaneAxis

    /// A picture of planes.
    ///
    /// `columns` and `rows` tell what samples of luma cover where it is not a pixel each.
    init(
        luma: Plane, chroma: [Plane], sampling: Sampling, columns: PlaneAxis? = nil, rows: PlaneAxis? = nil
    ) {
        self.luma = luma
        self.chroma = chroma
        self.sampling = sampling
        self.columns = columns ?? PlaneAxis(pixels: luma.width)
        self.rows = rows ?? PlaneAxis(pixels: luma.height)
        let (width, height) = (
            self.columns.coarser(by: sampling.across).samples, self.rows.coarser(by: sampling.down).samples
        )
        precondition(
            luma.channels == 1 && luma.width == self.columns.samples && luma.height == self.rows.samples
                && chroma.count == 2
                && chroma.allSatisfy { $0.channels == 1 && $0.width == width && $0.height == height },
            "the planes of a picture fit each other")
    }

    var width: Int { luma.width }
    var height: Int { luma.height }

    /// The picture at another size by Lanczos-3 with 4:2:0 sampling, then turned by an EXIF orientation.
    func resampled(width newWidth: Int, height newHeight: Int, orientation: Int) -> YCbCrPicture {
        let luma = luma.resampled(
            columns: AxisFilter(from: columns, to: PlaneAxis(pixels: newWidth)),
            rows: AxisFilter(from: rows, to: PlaneAxis(pixels: newHeight)))
        // A sample that covers fewer pixels belongs at the end of an axis once the picture is turned. With so little
        // detail left, halving has no measurable effect.
        let across = AxisFilter(
            from: columns.coarser(by: sampling.across),
            to: PlaneAxis(pixels: newWidth, step: 2, startsCut: [2, 3, 7, 8].contains(orientation)), reduction: 4)
        let down = AxisFilter(
            from: rows.coarser(by: sampling.down),
            to: PlaneAxis(pixels: newHeight, step: 2, startsCut: [3, 4, 6, 7].contains(orientation)), reduction: 4)
        let chroma = chroma.map { $0.resampled(columns: across, rows: down) }
        return YCbCrPicture(
            luma: Plane(luma.raster.oriented(orientation)),
            chroma: chroma.map { Plane($0.raster.oriented(orientation)) },
            sampling: .half)
    }
}
