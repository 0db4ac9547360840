extension Raster {
    /// The picture at a smaller size by Lanczos-3; unchanged when it already has that size.
    func resampled(width newWidth: Int, height newHeight: Int) -> Raster {
        // Rows first: whole rows are added up, which leaves fewer of them for the slower pass across.
        resampledDown(to: newHeight).resampledAcross(to: newWidth)
    }

    private func resampledDown(to newHeight: Int) -> Raster {
        guard newHeight != height else { return self }
        let kernel = ResampleKernel(from: height, to: newHeight)
        let size = rowBytes
        var result = [UInt8](repeating: 0, count: size * newHeight)
        var sums = [Int32](repeating: 0, count: size)
        let half: Int32 = 1 << (ResampleKernel.precision - 1)
        unsafe pixels.withUnsafeBufferPointer { source in
            unsafe result.withUnsafeMutableBufferPointer { target in
                unsafe sums.withUnsafeMutableBufferPointer { sums in
                    for row in 0..<newHeight {
                        unsafe sums.update(repeating: half)
                        for (tap, index) in kernel.taps[row].enumerated() {
                            let weight = kernel.weights[index]
                            let start = (kernel.starts[row] + tap) * size
                            let line = unsafe UnsafeBufferPointer(rebasing: source[start..<start + size])
                            for column in 0..<size {
                                unsafe sums[column] &+= weight &* Int32(line[column])
                            }
                        }
                        let line = unsafe UnsafeMutableBufferPointer(rebasing: target[row * size..<(row + 1) * size])
                        for column in 0..<size {
                            unsafe line[column] = Self.byte(sums[column])
                        }
                    }
                }
            }
        }
        return Raster(width: width, height: newHeight, channels: channels, pixels: result)
    }

    private func resampledAcross(to newWidth: Int) -> Raster {
        guard newWidth != width else { return self }
        let kernel = ResampleKernel(from: width, to: newWidth)
        var result = [UInt8](repeating: 0, count: newWidth * height * channels)
        let half: Int32 = 1 << (ResampleKernel.precision - 1)
        unsafe pixels.withUnsafeBufferPointer { source in
            unsafe kernel.weights.withUnsafeBufferPointer { weights in
                unsafe result.withUnsafeMutableBufferPointer { target in
                    for column in 0..<newWidth {
                        let taps = kernel.taps[column]
                        for row in 0..<height {
                            var place = row * rowBytes + kernel.starts[column] * channels
                            let output = (row * newWidth + column) * channels
                            if channels == 3 {
                                var red = half
                                var green = half
                                var blue = half
                                for tap in taps {
                                    let weight = unsafe weights[tap]
                                    unsafe red &+= weight &* Int32(source[place])
                                    unsafe green &+= weight &* Int32(source[place + 1])
                                    unsafe blue &+= weight &* Int32(source[place + 2])
                                    place &+= 3
                                }
                                unsafe target[output] = Self.byte(red)
                                unsafe target[output + 1] = Self.byte(green)
                                unsafe target[output + 2] = Self.byte(blue)
                            } else {
                                var grey = half
                                for tap in taps {
                                    unsafe grey &+= weights[tap] &* Int32(source[place])
                                    place &+= 1
                                }
                                unsafe target[output] = Self.byte(grey)
                            }
                        }
                    }
                }
            }
        }
        return Raster(width: newWidth, height: height, channels: channels, pixels: result)
    }

    private static func byte(_ sum: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: min(max(sum >> ResampleKernel.precision, 0), 255))
    }
}
