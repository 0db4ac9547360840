import Glibc
import Testing

@testable import ByteClubMedia

@Suite("Where a direction is in a view") struct PanoramaSightTests {
    private static func colour(yaw: Double, pitch: Double) -> [Double] {
        let (yaw, pitch) = (yaw * .pi / 180, pitch * .pi / 180)
        return [cos(pitch) * sin(yaw), sin(pitch), cos(pitch) * cos(yaw)].map { ($0 + 1) * 127.5 }
    }

    /// A sphere whose every pixel's colour is its direction.
    private static func sphere(width: Int, height: Int) throws -> (Panorama, Picture) {
        let xmp = "<a xmlns:g='\(GPano.namespace)' g:ProjectionType='equirectangular'/>"
        let jpeg = MakingJPEGs.with(try MakingJPEGs.quarters(width: 32, height: 16), xmp: xmp)
        var rgb: [UInt8] = []
        for row in 0..<height {
            for column in 0..<width {
                let yaw = (Double(column) + 0.5) / Double(width) * 360 - 180
                let pitch = 90 - (Double(row) + 0.5) / Double(height) * 180
                rgb += colour(yaw: yaw, pitch: pitch).map { UInt8($0.rounded()) }
            }
        }
        return (
            Panorama(header: try JPEGHeader(bytes: jpeg)), try #require(Picture(width: width, height: height, rgb: rgb))
        )
    }

    /// The colour at a place between the pixels' middles; nil within half a pixel of an edge.
    private static func colour(_ picture: Picture, x: Double, y: Double) -> [Double]? {
        let (column, row) = (Int((x - 0.5).rounded(.down)), Int((y - 0.5).rounded(.down)))
        guard column >= 0, row >= 0, column + 1 < picture.width, row + 1 < picture.height else { return nil }
        let (across, down) = (x - 0.5 - Double(column), y - 0.5 - Double(row))
        return (0..<3).map { channel in
            let value = { (column: Int, row: Int) in Double(picture.rgb[(row * picture.width + column) * 3 + channel]) }
            let above = value(column, row) * (1 - across) + value(column + 1, row) * across
            let below = value(column, row + 1) * (1 - across) + value(column + 1, row + 1) * across
            return above * (1 - down) + below * down
        }
    }

    @Test("any direction in any view is on the pixel whose ray it is")
    func pixels() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let (panorama, picture) = try Self.sphere(width: 720, height: 360)
        var (compared, worst) = (0, 0.0)
        for _ in 0..<300 {
            let view = PanoramaView(
                yaw: .random(in: -180...180, using: &random), pitch: .random(in: -90...90, using: &random),
                fov: .random(in: 40...100, using: &random))
            // So few pixels that one of them is a difference of many colours.
            let (width, height) = (Int.random(in: 16...28, using: &random), Int.random(in: 10...20, using: &random))
            let seen = view.render(picture, as: panorama, width: width, height: height)
            for _ in 0..<20 {
                let yaw = Double.random(in: -180...180, using: &random)
                let pitch = Double.random(in: -90...90, using: &random)
                guard case .inside(let x, let y) = view.sight(yaw: yaw, pitch: pitch, width: width, height: height),
                    let drawn = Self.colour(seen, x: x, y: y)
                else { continue }
                compared += 1
                for (a, b) in zip(drawn, Self.colour(yaw: yaw, pitch: pitch)) { worst = max(worst, abs(a - b)) }
            }
        }
        print("\(compared) directions, at most \(worst) of 255 off")
        #expect(compared > 200 && worst < 2.5, "seed \(seed)")
    }

    @Test("the middle of the view is where it looks, and its width covers its angle")
    func middle() {
        let view = PanoramaView(yaw: 170, pitch: -20, fov: 90)
        guard case .inside(let x, let y) = view.sight(yaw: -190, pitch: -20, width: 200, height: 100) else {
            Issue.record("not inside")
            return
        }
        #expect(abs(x - 100) < 1e-9 && abs(y - 50) < 1e-9)
        let level = PanoramaView(fov: 90)
        for (yaw, isInside) in [(44.9, true), (45.1, false), (-44.9, true), (-45.1, false)] {
            let sight = level.sight(yaw: yaw, pitch: 0, width: 200, height: 100)
            if case .inside = sight { #expect(isInside, "\(yaw)") } else { #expect(!isInside, "\(yaw)") }
        }
    }

    @Test("what is outside has a side")
    func sides() {
        let view = PanoramaView(yaw: 90, pitch: 0, fov: 90)
        for (yaw, pitch, sight) in [
            (180, 0, .right), (0, 0, .left), (-90, 0, .behind), (270, 10, .behind), (90, 60, .above),
            (95, -60, .below), (200, 0, .right), (-20, 5, .left), (140, 60, .right),
        ] as [(Double, Double, PanoramaSight)] {
            #expect(view.sight(yaw: yaw, pitch: pitch, width: 160, height: 90) == sight, "\(yaw),\(pitch)")
        }
    }
}
