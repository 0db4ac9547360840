/// Google's panorama tags (`http://ns.google.com/photos/1.0/panorama/`), repaired where files are known to be sloppy.
struct GPano: Sendable, Hashable {
    static let namespace = "http://ns.google.com/photos/1.0/panorama/"

    let projection: String
    let wantsViewer: Bool
    /// Degrees that the picture covers and where its centre points.
    let hFOV: Double
    let vFOV: Double
    let yaw: Double
    let pitch: Double
    /// The compass direction of the middle of the whole panorama, 0 to 360.
    let heading: Double?
    let initialView: PanoramaDirection?

    /// Reads a photo's tags, with the photo's size in place of missing crop sizes; nil without tags.
    init?(_ header: JPEGHeader) {
        let tags = header.xmpProperties(of: Self.namespace)
        guard !tags.isEmpty else { return nil }
        projection = (tags["ProjectionType"] ?? "").lowercased()
        wantsViewer = !["false", "0"].contains(tags["UsePanoramaViewer"]?.lowercased())

        func number(_ name: String) -> Double? {
            tags[name].flatMap(Double.init).flatMap { $0.isFinite && abs($0) < 1e9 ? $0 : nil }
        }
        func size(_ name: String) -> Double? {
            number(name).flatMap { $0 >= 1 ? $0 : nil }
        }
        // Only ratios count: sizes are often left behind by an editor that made the picture smaller.
        let cropWidth = size("CroppedAreaImageWidthPixels") ?? Double(header.width)
        let cropHeight = size("CroppedAreaImageHeightPixels") ?? Double(header.height)
        let givenHeight = size("FullPanoHeightPixels")
        let fullWidth = size("FullPanoWidthPixels") ?? givenHeight.map { $0 * 2 } ?? max(cropWidth, cropHeight * 2)
        let fullHeight = givenHeight.flatMap { abs($0 * 2 - fullWidth) <= 1 ? $0 : nil } ?? fullWidth / 2
        let across = min(cropWidth, fullWidth)
        let down = min(cropHeight, fullHeight)
        let left = min(max(0, number("CroppedAreaLeftPixels") ?? (fullWidth - across) / 2), fullWidth - across)
        // The horizon is in the middle of the height that the file gives, even when that height is not half the width.
        let offset = number("CroppedAreaTopPixels").map { $0 + (fullHeight - (givenHeight ?? fullHeight)) / 2 }
        let top = min(max(0, offset ?? (fullHeight - down) / 2), fullHeight - down)
        hFOV = 360 * across / fullWidth
        vFOV = 180 * down / fullHeight
        yaw = 360 * (left + across / 2) / fullWidth - 180
        pitch = 90 - 180 * (top + down / 2) / fullHeight

        let heading = number("PoseHeadingDegrees").map { Self.compass($0) }
        self.heading = heading
        let initialHeading = number("InitialViewHeadingDegrees")
        let initialPitch = number("InitialViewPitchDegrees")
        initialView =
            initialHeading == nil && initialPitch == nil
            ? nil
            : PanoramaDirection(
                // A compass direction, as the pose is; without a pose the middle counts as north.
                yaw: initialHeading.map { $0 - (heading ?? 0) } ?? 0, pitch: initialPitch ?? 0)
    }

    /// Whether the picture covers the whole sphere, to a thousandth.
    var isWhole: Bool { hFOV >= 359.64 && vFOV >= 179.82 }

    private static func compass(_ degrees: Double) -> Double {
        let turned = degrees.truncatingRemainder(dividingBy: 360)
        return turned < 0 ? turned + 360 : turned
    }
}
