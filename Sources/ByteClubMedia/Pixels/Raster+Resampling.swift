extension Raster {
    /// The picture at another size by Lanczos-3; unchanged when it already has that size.
    func resampled(width newWidth: Int, height newHeight: Int) -> Raster {
        // Rows first: whole rows are added up, which leaves fewer of them for the slower pass across.
        resampledDown(to: newHeight).resampledAcross(to: newWidth)
    }

    private func resampledDown(to newHeight: Int) -> Raster {
        guard newHeight != height else { return self }
        let kernel = ResampleKernel(from: height, to: newHeight)
        let size = rowBytes
        let result = unsafe [UInt8](unsafeUninitializedCapacity: size * newHeight) { target, filled in
            unsafe pixels.withUnsafeBytes { source in
                unsafe kernel.weights.withUnsafeBufferPointer { weights in
                    let target = UnsafeMutableRawBufferPointer(target)
                    for (row, window) in kernel.windows.enumerated() {
                        var column = 0
                        while column + 16 <= size {
                            var sums = SIMD16<Int32>(repeating: Self.half)
                            var place = window.start * size + column
                            for tap in window.taps {
                                let line = unsafe source.loadUnaligned(fromByteOffset: place, as: SIMD16<UInt8>.self)
                                sums &+=
                                    SIMD16<Int32>(truncatingIfNeeded: line)
                                    &* SIMD16<Int32>(repeating: Int32(unsafe weights[tap]))
                                place &+= size
                            }
                            unsafe target.storeBytes(
                                of: Self.bytes(sums), toByteOffset: row * size + column, as: SIMD16<UInt8>.self)
                            column += 16
                        }
                        while column < size {
                            var sum = Self.half
                            for (tap, index) in window.taps.enumerated() {
                                let value = unsafe source[(window.start + tap) * size + column]
                                sum &+= Int32(unsafe weights[index]) &* Int32(value)
                            }
                            unsafe target[row * size + column] = Self.byte(sum)
                            column += 1
                        }
                    }
                }
            }
            filled = size * newHeight
        }
        return Raster(width: width, height: newHeight, channels: channels, pixels: result)
    }

    private func resampledAcross(to newWidth: Int) -> Raster {
        guard newWidth != width else { return self }
        let kernel = ResampleKernel(from: width, to: newWidth)
        let result = unsafe [UInt8](unsafeUninitializedCapacity: newWidth * height * channels) { target, filled in
            unsafe pixels.withUnsafeBytes { source in
                unsafe kernel.weights.withUnsafeBufferPointer { weights in
                    for row in 0..<height {
                        let line = unsafe UnsafeRawBufferPointer(
                            rebasing: source[row * rowBytes..<(row + 1) * rowBytes])
                        let output = unsafe UnsafeMutableBufferPointer(
                            rebasing: target[row * newWidth * channels..<(row + 1) * newWidth * channels])
                        if channels == 3 {
                            unsafe Self.colourRow(line, kernel.windows, weights, output)
                        } else {
                            unsafe Self.greyRow(line, kernel.windows, weights, output)
                        }
                    }
                }
            }
            filled = newWidth * height * channels
        }
        return Raster(width: newWidth, height: height, channels: channels, pixels: result)
    }

    private static func colourRow(
        _ line: UnsafeRawBufferPointer, _ windows: [ResampleKernel.Window], _ weights: UnsafeBufferPointer<Int16>,
        _ output: UnsafeMutableBufferPointer<UInt8>
    ) {
        for (column, window) in windows.enumerated() {
            var sums = SIMD4<Int32>(repeating: half)
            var place = window.start * 3
            // Four bytes are a pixel and one byte of the next, which the row's last pixel has not.
            let taps = window.taps
            let isLast = place + taps.count * 3 >= line.count
            for tap in isLast ? taps.dropLast() : taps {
                let pixel = unsafe line.loadUnaligned(fromByteOffset: place, as: SIMD4<UInt8>.self)
                sums &+=
                    SIMD4<Int32>(truncatingIfNeeded: pixel) &* SIMD4<Int32>(repeating: Int32(unsafe weights[tap]))
                place &+= 3
            }
            if isLast, let tap = taps.last {
                let pixel = unsafe SIMD4<Int32>(Int32(line[place]), Int32(line[place + 1]), Int32(line[place + 2]), 0)
                sums &+= pixel &* SIMD4<Int32>(repeating: Int32(unsafe weights[tap]))
            }
            for channel in 0..<3 { unsafe output[column * 3 + channel] = byte(sums[channel]) }
        }
    }

    private static func greyRow(
        _ line: UnsafeRawBufferPointer, _ windows: [ResampleKernel.Window], _ weights: UnsafeBufferPointer<Int16>,
        _ output: UnsafeMutableBufferPointer<UInt8>
    ) {
        for (column, window) in windows.enumerated() {
            var sum = half
            var place = window.start
            for tap in window.taps {
                unsafe sum &+= Int32(weights[tap]) &* Int32(line[place])
                place &+= 1
            }
            unsafe output[column] = byte(sum)
        }
    }

    private static let half: Int32 = 1 << (ResampleKernel.precision - 1)

    private static func byte(_ sum: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: min(max(sum >> ResampleKernel.precision, 0), 255))
    }

    private static func bytes(_ sums: SIMD16<Int32>) -> SIMD16<UInt8> {
        let values = sums &>> SIMD16<Int32>(repeating: ResampleKernel.precision)
        return SIMD16<UInt8>(truncatingIfNeeded: values.clamped(lowerBound: .zero, upperBound: .init(repeating: 255)))
    }
}
