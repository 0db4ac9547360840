/// Samples in rows that lie a number of bytes apart, as a part of other bytes.
struct Plane: Sendable, Hashable {
    let width: Int
    let height: Int
    /// Bytes of a sample: 1 or, for red, green and blue, 3.
    let channels: Int
    private let bytes: [UInt8]
    /// The first sample's place in the bytes.
    private let start: Int
    /// From one row to the next.
    let stride: Int

    init(width: Int, height: Int, channels: Int = 1, bytes: [UInt8], start: Int = 0, stride: Int) {
        precondition(
            width > 0 && height > 0 && start >= 0 && stride >= width * channels
                && start + (height - 1) * stride + width * channels <= bytes.count, "a plane lies within its bytes")
        self.width = width
        self.height = height
        self.channels = channels
        self.bytes = bytes
        self.start = start
        self.stride = stride
    }

    init(_ raster: Raster) {
        self.init(
            width: raster.width, height: raster.height, channels: raster.channels, bytes: raster.pixels,
            stride: raster.rowBytes)
    }

    /// The samples alone.
    var raster: Raster {
        let rowBytes = width * channels
        if start == 0, stride == rowBytes, bytes.count == rowBytes * height {
            return Raster(width: width, height: height, channels: channels, pixels: bytes)
        }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(rowBytes * height)
        for row in 0..<height { pixels += bytes[start + row * stride..<start + row * stride + rowBytes] }
        return Raster(width: width, height: height, channels: channels, pixels: pixels)
    }

    /// A plane whose samples a closure writes, given these, without padding.
    func filled(
        width newWidth: Int, height newHeight: Int,
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeMutableBufferPointer<UInt8>) -> Void
    ) -> Plane {
        let size = newWidth * newHeight * channels
        let result = unsafe [UInt8](unsafeUninitializedCapacity: size) { target, count in
            unsafe bytes.withUnsafeBufferPointer { source in
                unsafe body(
                    UnsafeBufferPointer(rebasing: source[start...]),
                    UnsafeMutableBufferPointer(rebasing: target[..<size]))
            }
            count = size
        }
        return Plane(
            width: newWidth, height: newHeight, channels: channels, bytes: result, stride: newWidth * channels)
    }
}

extension Plane {
    func resampled(columns: AxisFilter, rows: AxisFilter) -> Plane {
        let lower = resampledDown(rows)
        if columns.changesNothing { return lower }
        // Whole rows are added up many samples at a time; columns are once they are rows.
        return lower.transposed().resampledDown(columns).transposed()
    }

    private func resampledDown(_ filter: AxisFilter) -> Plane {
        var (plane, left) = (self, filter.halvings)
        while left > 0 {
            // The sum of 256 rows is the largest that 16 bits hold.
            plane = plane.shrunkDown(halvings: min(left, 8))
            left -= 8
        }
        return filter.kernel.map(plane.weighted) ?? plane
    }

    private func weighted(_ kernel: ResampleKernel) -> Plane {
        let size = width * channels
        return unsafe filled(width: width, height: kernel.windows.count) { source, target in
            var rows = unsafe WeightedRows(
                source: source, stride: stride, size: size, count: height, longest: kernel.longestWindow)
            for (row, window) in kernel.windows.enumerated() {
                let output = unsafe UnsafeMutableBufferPointer(rebasing: target[row * size..<(row + 1) * size])
                unsafe rows.write(from: window.start, kernel.weights[window.taps], to: output)
            }
        }
    }

    /// Replaces each two rows by their mean, as many times as given, at once; fewer rows remain at the end.
    private func shrunkDown(halvings: Int) -> Plane {
        let size = width * channels
        let step = 1 << halvings
        let newHeight = (height + step - 1) / step
        return unsafe filled(width: width, height: newHeight) { source, target in
            unsafe withUnsafeTemporaryAllocation(of: UInt16.self, capacity: size) { sums in
                for row in 0..<newHeight {
                    let rows = row * step..<min((row + 1) * step, height)
                    let count = UInt16(rows.count)
                    unsafe sums.update(repeating: count / 2)
                    for line in rows {
                        let samples = unsafe UnsafeBufferPointer(rebasing: source[line * stride..<line * stride + size])
                        for column in 0..<size { unsafe sums[column] &+= UInt16(samples[column]) }
                    }
                    let means = unsafe UnsafeMutableBufferPointer(rebasing: target[row * size..<(row + 1) * size])
                    if rows.count == step {
                        let bits = UInt16(halvings)
                        for column in 0..<size {
                            unsafe means[column] = UInt8(truncatingIfNeeded: sums[column] &>> bits)
                        }
                    } else {
                        for column in 0..<size {
                            unsafe means[column] = UInt8(truncatingIfNeeded: sums[column] / count)
                        }
                    }
                }
            }
        }
    }
}

extension Raster {
    /// The picture at another size by Lanczos-3; unchanged when it already has that size.
    func resampled(width newWidth: Int, height newHeight: Int) -> Raster {
        let columns = AxisFilter(from: PlaneAxis(pixels: width), to: PlaneAxis(pixels: newWidth))
        let rows = AxisFilter(from: PlaneAxis(pixels: height), to: PlaneAxis(pixels: newHeight))
        return Plane(self).resampled(columns: columns, rows: rows).raster
    }
}
