/// A small photo that takes long to decode: a plain grey square in a progressive JPEG of many scans.
public enum CostlyPhoto {
    /// Makes the file.
    ///
    /// - Parameters:
    ///   - side: The pixels across and down, at most 65,500.
    ///   - refinements: The scans that look at every coefficient again, and change none.
    /// - Returns: Some hundred bytes a scan, and one for each eight blocks.
    public static func jpeg(side: Int, refinements: Int) -> [UInt8] {
        let blocks = (side + 7) / 8 * ((side + 7) / 8)
        let size = [UInt8(side >> 8), UInt8(side & 0xFF)]
        // One code of one bit in each table: a coefficient of 0, and the end of 16,384 blocks, whose number follows.
        let code: [UInt8] = [1] + [UInt8](repeating: 0, count: 15)
        let runs = [UInt8](repeating: 0, count: (blocks / 16_384 + 1) * 15 / 8 + 1)
        var photo: [UInt8] = [0xFF, 0xD8]
        photo += segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
        photo += segment(0xC2, [8] + size + size + [1, 1, 0x11, 0])
        photo += segment(0xC4, [0x00] + code + [0x00]) + segment(0xC4, [0x10] + code + [0xE0])
        photo += segment(0xDA, [1, 1, 0, 0, 0, 0x00]) + [UInt8](repeating: 0, count: (blocks + 7) / 8)
        photo += segment(0xDA, [1, 1, 0, 1, 63, 0x01]) + runs
        for _ in 0..<refinements { photo += segment(0xDA, [1, 1, 0, 1, 63, 0x10]) + runs }
        return photo + [0xFF, 0xD9]
    }

    private static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        let length = body.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + body
    }
}
