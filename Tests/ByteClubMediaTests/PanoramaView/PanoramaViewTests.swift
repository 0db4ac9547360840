import Glibc
import Testing

@testable import ByteClubMedia

/// Views into pictures whose every pixel's colour is the direction it shows, against directions found by turning
/// vectors.
@Suite struct PanoramaViewTests {
    private typealias Vector = (x: Double, y: Double, z: Double)

    private static func turned(_ v: Vector, yaw: Double, pitch: Double) -> Vector {
        let (p, q) = (pitch * .pi / 180, yaw * .pi / 180)
        let tilted = (x: v.x, y: v.y * cos(p) + v.z * sin(p), z: v.z * cos(p) - v.y * sin(p))
        return (tilted.x * cos(q) + tilted.z * sin(q), tilted.y, tilted.z * cos(q) - tilted.x * sin(q))
    }

    private static func colour(_ v: Vector) -> [Double] {
        let length = (v.x * v.x + v.y * v.y + v.z * v.z).squareRoot()
        return [v.x, v.y, v.z].map { ($0 / length + 1) * 127.5 }
    }

    /// A panorama of `tags`, and a picture of directions for it.
    private static func made(
        _ tags: String, isCylinder: Bool = false, width: Int, height: Int, across: Range<Double>, down: Range<Double>
    ) throws -> (Panorama, Picture) {
        let xmp = "<a xmlns:g='\(GPano.namespace)' \(tags)/>"
        let jpeg = MakingJPEGs.with(try MakingJPEGs.quarters(width: 32, height: 16), xmp: xmp)
        var rgb: [UInt8] = []
        for row in 0..<height {
            let part = (Double(row) + 0.5) / Double(height)
            let degrees = down.upperBound - part * (down.upperBound - down.lowerBound)
            let up = isCylinder ? degrees * .pi / 180 : tan(degrees * .pi / 180)
            for column in 0..<width {
                let yaw =
                    across.lowerBound
                    + (Double(column) + 0.5) / Double(width) * (across.upperBound - across.lowerBound)
                let colour = colour((sin(yaw * .pi / 180), up, cos(yaw * .pi / 180)))
                rgb += colour.map { UInt8(($0 + 0.5).rounded(.down)) }
            }
        }
        return (
            Panorama(header: try JPEGHeader(bytes: jpeg)), try #require(Picture(width: width, height: height, rgb: rgb))
        )
    }

    private static let directions = (0..<64).map { index in
        // Evenly over the sphere, both poles and the seam among them.
        let pitch = asin(1 - 2 * Double(index) / 63) * 180 / .pi
        return PanoramaDirection(yaw: index.isMultiple(of: 9) ? 180 : Double(index) * 137.508, pitch: pitch)
    }

    /// Compares a view of each direction, every pixel of it: inside with the direction's colour, outside with grey.
    private static func check(
        _ panorama: Panorama, _ picture: Picture, isInside: (_ yaw: Double, _ slope: Double) -> Bool?
    ) {
        let (width, height, fov) = (40, 24, 80.0)
        for direction in directions {
            let view = PanoramaView(yaw: direction.yaw, pitch: direction.pitch, fov: fov)
            let seen = view.render(picture, as: panorama, width: width, height: height)
            var worst = 0.0
            let distance = Double(width) / 2 / tan(fov * .pi / 360)
            for row in 0..<height {
                for column in 0..<width {
                    let ray = turned(
                        (Double(column) + 0.5 - Double(width) / 2, Double(height) / 2 - Double(row) - 0.5, distance),
                        yaw: direction.yaw, pitch: direction.pitch)
                    let yaw = atan2(ray.x, ray.z) * 180 / .pi
                    guard let inside = isInside(yaw, ray.y / (ray.x * ray.x + ray.z * ray.z).squareRoot()) else {
                        continue
                    }
                    let start = (row * width + column) * 3
                    let expected = inside ? colour(ray) : [17, 17, 17]
                    for channel in 0..<3 {
                        worst = max(worst, abs(Double(seen.rgb[start + channel]) - expected[channel]))
                    }
                }
            }
            #expect(worst <= 2, "\(direction)")
        }
    }

    @Test("a sphere shows every direction, across the seam and at the poles")
    func sphere() throws {
        let (panorama, picture) = try Self.made(
            "g:ProjectionType='equirectangular'", width: 512, height: 256, across: -180..<180, down: -90..<90)
        #expect(panorama.kind == .sphere)
        Self.check(panorama, picture) { _, _ in true }
    }

    @Test("at the seam the last column is mixed with the first")
    func seam() throws {
        let (panorama, _) = try Self.made(
            "g:ProjectionType='equirectangular'", width: 8, height: 4, across: -180..<180, down: -90..<90)
        var row = [UInt8](repeating: 100, count: 8 * 3)
        row.replaceSubrange(0..<3, with: [200, 200, 0])
        row.replaceSubrange(21..<24, with: [0, 200, 100])
        let picture = try #require(Picture(width: 8, height: 4, rgb: row + row + row + row))
        for yaw in [180.0, -180, 540] {
            let view = PanoramaView(yaw: yaw, pitch: 0, fov: 1)
            #expect(view.render(picture, as: panorama, width: 1, height: 1).rgb == [100, 200, 50])
        }
    }

    @Test("a part of a sphere shows what it covers, and grey elsewhere")
    func partial() throws {
        let tags = """
            g:ProjectionType='equirectangular' g:FullPanoWidthPixels='720' g:FullPanoHeightPixels='360'
            g:CroppedAreaImageWidthPixels='240' g:CroppedAreaImageHeightPixels='160' g:CroppedAreaLeftPixels='560'
            g:CroppedAreaTopPixels='60'
            """
        // A crop that reaches over the edge is moved back inside.
        let (panorama, picture) = try Self.made(tags, width: 480, height: 320, across: 60..<180, down: -20..<60)
        #expect(panorama.kind == .partialSphere && panorama.yaw == 120 && panorama.pitch == 20)
        Self.check(panorama, picture) { yaw, slope in
            let pitch = atan(slope) * 180 / .pi
            let distance = min(min(abs(yaw - 60), abs(abs(yaw) - 180)), min(abs(pitch + 20), abs(pitch - 60)))
            // Within a pixel of the edge either may be.
            return distance < 0.5 ? nil : (60...180).contains(yaw) && (-20...60).contains(pitch)
        }
    }

    @Test("a cylinder keeps its rows at the tangents of their elevations")
    func cylinder() throws {
        let tags = """
            g:ProjectionType='cylindrical' g:FullPanoWidthPixels='720' g:FullPanoHeightPixels='360'
            g:CroppedAreaImageWidthPixels='720' g:CroppedAreaImageHeightPixels='200' g:CroppedAreaLeftPixels='0'
            g:CroppedAreaTopPixels='60'
            """
        let (panorama, picture) = try Self.made(
            tags, isCylinder: true, width: 720, height: 200, across: -180..<180, down: -40..<60)
        #expect(panorama.kind == .cylinder && panorama.pitch == 10 && panorama.vFOV == 100)
        Self.check(panorama, picture) { _, slope in
            let degrees = slope * 180 / .pi
            return min(abs(degrees - 60), abs(degrees + 40)) < 0.5 ? nil : (-40...60).contains(degrees)
        }
    }

    @Test("a view of a file is what the file shows there; an ordinary photo has none")
    func file() throws {
        let view = PanoramaView(yaw: 20, pitch: 5, fov: 60)
        let picture = try view.render(file: Photos.path("city"), width: 60, height: 40)
        #expect(picture.width == 60 && picture.height == 40)
        let whole = try Picture(jpeg: Photos.bytes("city"))
        let panorama = Panorama(header: try JPEGHeader(file: Photos.path("city")))
        let large = view.render(whole, as: panorama, width: 240, height: 160).fitted(width: 60, height: 40)
        let difference = zip(picture.rgb, large.rgb).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(Double(difference) / Double(picture.rgb.count) < 12)
        #expect(throws: MediaError.self) { try view.render(file: Photos.path("portrait"), width: 60, height: 40) }
        _ = try view.render(file: Photos.path("portrait"), as: .partialSphere, width: 60, height: 40)
    }

    @Test("a view beyond all ranges is brought into them")
    func ranges() {
        let view = PanoramaView(yaw: 540, pitch: 1e9, fov: .nan)
        #expect(abs(view.yaw) == 180 && view.pitch == 90 && view.fov == 90)
        #expect(PanoramaView(yaw: .infinity, pitch: -.infinity, fov: 0).yaw == 0)
    }
}
