import Testing

@testable import ByteClubMedia

@Suite struct ResamplingTests {
    /// Rows by Lanczos-3 with sums that are not rounded.
    private static func exact(_ raster: Raster, height: Int) -> [Double] {
        let kernel = ResampleKernel(from: PlaneAxis(pixels: raster.height), to: PlaneAxis(pixels: height))
        return kernel.windows.flatMap { window in
            (0..<raster.rowBytes).map { column in
                var sum = 0.0
                for (row, weight) in zip(window.start..<raster.height, kernel.weights[window.taps]) {
                    sum += Double(raster.pixels[row * raster.rowBytes + column]) * Double(weight)
                }
                return sum / Double(1 << ResampleKernel.precision)
            }
        }
    }

    @Test("sums in 16 bits are off by less than a level", arguments: [1, 3])
    func rounding(channels: Int) {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<30 {
            let (width, height) = (Int.random(in: 1...40, using: &generator), Int.random(in: 1...70, using: &generator))
            let newHeight = Int.random(in: (height / 6 + 1)...(height + 9), using: &generator)
            // Black and white noise makes the largest sums, on both sides of what a byte holds.
            let pixels = (0..<width * height * channels).map { _ in UInt8.random(in: 0...1, using: &generator) &* 255 }
            let raster = Raster(width: width, height: height, channels: channels, pixels: pixels)
            let made = raster.resampled(width: width, height: newHeight)
            let worst = zip(made.pixels, Self.exact(raster, height: newHeight)).reduce(0.0) {
                max($0, abs(Double($1.0) - min(max($1.1, 0), 255)))
            }
            #expect(worst < 1, "seed \(seed), \(width)x\(height) to \(newHeight)")
            // The other axis goes the same way.
            #expect(raster.turned.resampled(width: newHeight, height: width) == made.turned, "seed \(seed)")
        }
    }

    @Test("halving many times is the mean of all", arguments: [(4096, 1), (5000, 3), (1000, 7)])
    func means(height: Int, newHeight: Int) {
        // Rows of one value each, whose mean is known.
        let pixels = (0..<height).flatMap { [UInt8](repeating: UInt8($0 * 255 / (height - 1)), count: 5) }
        let raster = Raster(width: 5, height: height, channels: 1, pixels: pixels)
        let made = raster.resampled(width: 5, height: newHeight)
        for row in 0..<newHeight {
            let expected = 255 * (Double(row) + 0.5) / Double(newHeight)
            #expect(abs(Double(made.pixels[row * 5]) - expected) < 255 / Double(newHeight) * 0.2 + 1)
        }
        let turned = Raster(
            width: height, height: 5, channels: 1,
            pixels: (0..<5).flatMap { _ in
                (0..<height).map { UInt8($0 * 255 / (height - 1)) }
            }
        ).resampled(width: newHeight, height: 5)
        #expect((0..<newHeight).map { turned.pixels[$0] } == (0..<newHeight).map { made.pixels[$0 * 5] })
    }

    @Test("columns become rows at every size", arguments: [1, 3])
    func transposition(channels: Int) {
        for (width, height) in [(1, 1), (7, 9), (8, 8), (16, 70), (67, 65), (130, 24)] {
            let pixels = (0..<width * height * channels).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) }
            let raster = Plane(
                width: width, height: height, channels: channels, bytes: pixels, stride: width * channels
            ).transposed().raster
            let expected = (0..<width).flatMap { x in
                (0..<height).flatMap { y in (0..<channels).map { pixels[(y * width + x) * channels + $0] } }
            }
            #expect(raster.pixels == expected, "\(width)x\(height)")
        }
    }
}

extension Raster {
    fileprivate var turned: Raster { Plane(self).transposed().raster }
}
