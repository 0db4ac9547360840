extension Plane {
    /// The plane with its columns as rows.
    func transposed() -> Plane {
        unsafe filled(width: height, height: width) { source, target in
            let side = 8
            let (evenWidth, evenHeight) = channels == 1 ? (width & ~(side - 1), height & ~(side - 1)) : (0, 0)
            // The rows of a band fill lines of the cache in the result.
            for band in Swift.stride(from: 0, to: evenHeight, by: 8 * side) {
                for column in Swift.stride(from: 0, to: evenWidth, by: side) {
                    for row in Swift.stride(from: band, to: min(band + 8 * side, evenHeight), by: side) {
                        unsafe transposeSquare(source, target, row: row, column: column)
                    }
                }
            }
            unsafe copy(source, target, rows: 0..<evenHeight, columns: evenWidth..<width)
            unsafe copy(source, target, rows: evenHeight..<height, columns: 0..<width)
        }
    }

    private func copy(
        _ source: UnsafeBufferPointer<UInt8>, _ target: UnsafeMutableBufferPointer<UInt8>, rows: Range<Int>,
        columns: Range<Int>
    ) {
        for row in rows {
            for column in columns {
                for channel in 0..<channels {
                    unsafe target[(column * height + row) * channels + channel] =
                        source[row * stride + column * channels + channel]
                }
            }
        }
    }

    /// Eight rows of eight bytes, each as a number: halves, quarters and bytes change places (Warren, Hacker's Delight,
    /// 7-3).
    private func transposeSquare(
        _ source: UnsafeBufferPointer<UInt8>, _ target: UnsafeMutableBufferPointer<UInt8>, row: Int, column: Int
    ) {
        let bytes = UnsafeRawBufferPointer(source)
        func load(_ index: Int) -> UInt64 {
            unsafe bytes.loadUnaligned(fromByteOffset: (row &+ index) &* stride &+ column, as: UInt64.self)
                .littleEndian
        }
        func exchange(_ first: inout UInt64, _ second: inout UInt64, by bits: UInt64, _ mask: UInt64) {
            let change = (first &>> bits ^ second) & mask
            second ^= change
            first ^= change &<< bits
        }
        var (a, b, c, d) = (load(0), load(1), load(2), load(3))
        var (e, f, g, h) = (load(4), load(5), load(6), load(7))
        let (halves, quarters, single): (UInt64, UInt64, UInt64) =
            (0x0000_0000_FFFF_FFFF, 0x0000_FFFF_0000_FFFF, 0x00FF_00FF_00FF_00FF)
        exchange(&a, &e, by: 32, halves)
        exchange(&b, &f, by: 32, halves)
        exchange(&c, &g, by: 32, halves)
        exchange(&d, &h, by: 32, halves)
        exchange(&a, &c, by: 16, quarters)
        exchange(&b, &d, by: 16, quarters)
        exchange(&e, &g, by: 16, quarters)
        exchange(&f, &h, by: 16, quarters)
        exchange(&a, &b, by: 8, single)
        exchange(&c, &d, by: 8, single)
        exchange(&e, &f, by: 8, single)
        exchange(&g, &h, by: 8, single)
        let result = UnsafeMutableRawBufferPointer(target)
        func store(_ value: UInt64, _ index: Int) {
            unsafe result.storeBytes(
                of: value.littleEndian, toByteOffset: (column &+ index) &* height &+ row, as: UInt64.self)
        }
        store(a, 0)
        store(b, 1)
        store(c, 2)
        store(d, 3)
        store(e, 4)
        store(f, 5)
        store(g, 6)
        store(h, 7)
    }
}
