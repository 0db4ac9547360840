internal import Glibc

/// A look into a panorama with straight lines straight: what a camera at its centre would see.
public struct PanoramaView: Sendable, Hashable {
    /// Degrees right of the middle of the whole panorama.
    public var yaw: Double
    /// Degrees above the horizon, -90 to 90.
    public var pitch: Double
    /// Degrees that the view's width covers, 1 to 150.
    public var fov: Double

    /// The dark grey of what a panorama does not cover.
    static let outside: UInt8 = 17

    /// Makes a view; `pitch` and `fov` are clamped to their ranges, and NaN means the middle.
    public init(yaw: Double = 0, pitch: Double = 0, fov: Double = 90) {
        self.yaw = yaw.isFinite ? yaw.remainder(dividingBy: 360) : 0
        self.pitch = pitch.isFinite ? min(max(pitch, -90), 90) : 0
        self.fov = fov.isFinite ? min(max(fov, 1), 150) : 90
    }

    /// The view into a JPEG file.
    ///
    /// Blocks for the decoding and cannot be cancelled; it is bounded as ``Thumbnail`` is. The photo is decoded no
    /// larger than the view has use for.
    ///
    /// - Parameters:
    ///   - path: The photo.
    ///   - kind: The kind chosen by a person; nil for the rule of ``Panorama``.
    ///   - width: Pixels across, clamped to 1...8192.
    ///   - height: Pixels down, clamped to 1...8192.
    /// - Returns: The view, of exactly this size.
    /// - Throws: `io`, `notAJPEG`, `damaged`, `tooLarge`, and `unsupported` also for a photo that is no panorama.
    public func render(
        file path: String, as kind: Panorama.Kind? = nil, width: Int, height: Int
    ) throws(MediaError) -> Picture {
        let source = try FileSource(path: path)
        let header = try JPEGHeader(source)
        let panorama = Panorama(header: header, view: kind)
        guard panorama.isAround, let across = panorama.hFOV else {
            throw MediaError(.unsupported, "\(path): not a sphere or a cylinder (\(panorama.why)); it has no views")
        }
        // Pixels a radian in the middle of the view, and along the panorama's horizon.
        let needed = Double(min(max(1, width), 8192)) / 2 / tan(fov * .pi / 360)
        let given = Double(panorama.seenWidth) / (across * .pi / 180)
        let eighths = [1, 2, 4].first { given * Double($0) / 8 >= needed } ?? 8
        let raster = try JPEGDecoder().decode(source.readAll(), header: header, eighths: eighths)
        return render(Picture(raster.oriented(panorama.orientation)), as: panorama, width: width, height: height)
    }

    /// The view into a decoded picture, at any scale, turned as `panorama` requires.
    ///
    /// A sample is computed from the four pixels around it, across the seam too; directions outside the panorama are
    /// dark grey. A strip or an ordinary photo is treated as a part of a sphere of its angles, or of 90 degrees.
    public func render(_ picture: Picture, as panorama: Panorama, width: Int, height: Int) -> Picture {
        let width = min(max(1, width), 8192)
        let height = min(max(1, height), 8192)
        let lens = PanoramaLens(picture, panorama)
        let step = 2 * tan(fov * .pi / 360) / Double(width)
        let (sine, cosine) = (sin(pitch * .pi / 180), cos(pitch * .pi / 180))
        let turn = yaw * .pi / 180
        var pixels = [UInt8](repeating: Self.outside, count: width * height * 3)
        for row in 0..<height {
            let up = (Double(height) / 2 - Double(row) - 0.5) * step
            // The ray of a pixel: right, up, ahead, after tilting by the pitch.
            let (rise, ahead) = (up * cosine + sine, cosine - up * sine)
            for column in 0..<width {
                let right = (Double(column) + 0.5 - Double(width) / 2) * step
                let direction = (
                    azimuth: atan2(right, ahead) + turn, level: (right * right + ahead * ahead).squareRoot()
                )
                guard let place = lens.place(azimuth: direction.azimuth, rise: rise, level: direction.level) else {
                    continue
                }
                let start = (row * width + column) * 3
                for channel in 0..<3 { pixels[start + channel] = lens.sample(place, channel) }
            }
        }
        return Picture(Raster(width: width, height: height, channels: 3, pixels: pixels))
    }
}

extension Panorama {
    /// Whether there is something to look around in, and not only along.
    public var isAround: Bool { kind == .sphere || kind == .partialSphere || kind == .cylinder }
}
