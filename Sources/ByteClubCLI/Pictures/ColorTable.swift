import ByteClubMedia

/// Up to 256 colours that stand for all of a picture, by Heckbert's median cut (1982) of five bits a channel.
struct ColorTable: Sendable {
    /// The colours.
    let colors: [RGB]
    private let lookup: [UInt8]

    private struct Entry {
        var color: RGB
        var count: Int
        func channel(_ index: Int) -> UInt8 { index == 0 ? color.red : index == 1 ? color.green : color.blue }
    }

    private struct Box {
        var entries: [Entry]
        /// The channel that spreads most.
        var channel = 0
        /// How much cutting the box helps: its pixels times its spread.
        var weight = 0

        init(_ entries: [Entry]) {
            self.entries = entries
            let pixels = entries.reduce(0) { $0 + $1.count }
            for index in 0..<3 {
                let values = entries.map { Int($0.channel(index)) }
                let spread = (values.max() ?? 0) - (values.min() ?? 0)
                if spread * pixels > weight { (channel, weight) = (index, spread * pixels) }
            }
        }

        var mean: RGB {
            let pixels = max(1, entries.reduce(0) { $0 + $1.count })
            let sums = (0..<3).map { index in entries.reduce(0) { $0 + Int($1.channel(index)) * $1.count } }
            let values = sums.map { UInt8(clamping: ($0 + pixels / 2) / pixels) }
            return RGB(red: values[0], green: values[1], blue: values[2])
        }
    }

    /// Chooses the colours of a picture, `limit` (1 to 256) at most.
    init(_ picture: Picture, limit: Int = 256) {
        var counts = [Int](repeating: 0, count: 1 << 15)
        for start in stride(from: 0, to: picture.rgb.count, by: 3) {
            let color = RGB(red: picture.rgb[start], green: picture.rgb[start + 1], blue: picture.rgb[start + 2])
            counts[Self.cell(color)] += 1
        }
        let entries = counts.indices.filter { counts[$0] > 0 }
            .map { Entry(color: Self.color($0), count: counts[$0]) }
        var boxes = [Box(entries)]
        while boxes.count < min(max(1, limit), 256),
            let next = boxes.indices.max(by: { boxes[$0].weight < boxes[$1].weight }), boxes[next].weight > 0
        {
            let channel = boxes[next].channel
            let sorted = boxes[next].entries.sorted { $0.channel(channel) < $1.channel(channel) }
            let half = sorted.reduce(0) { $0 + $1.count } / 2
            var (cut, pixels) = (0, 0)
            while cut < sorted.count - 1, cut == 0 || pixels < half {
                pixels += sorted[cut].count
                cut += 1
            }
            boxes[next] = Box(Array(sorted[..<cut]))
            boxes.append(Box(Array(sorted[cut...])))
        }
        let colors = boxes.map(\.mean)
        var lookup = [UInt8](repeating: 0, count: 1 << 15)
        for (index, box) in boxes.enumerated() {
            for entry in box.entries { lookup[Self.cell(entry.color)] = UInt8(index) }
        }
        // Dithering asks for colours that the picture does not have: the nearest for them.
        for cell in counts.indices where counts[cell] == 0 {
            let color = Self.color(cell)
            let nearest = colors.indices.min {
                colors[$0].squaredDistance(to: color) < colors[$1].squaredDistance(to: color)
            }
            lookup[cell] = UInt8(nearest ?? 0)
        }
        self.colors = colors
        self.lookup = lookup
    }

    /// The index of the colour for another one.
    func index(of color: RGB) -> Int { Int(lookup[Self.cell(color)]) }

    private static func cell(_ color: RGB) -> Int {
        Int(color.red >> 3) << 10 | Int(color.green >> 3) << 5 | Int(color.blue >> 3)
    }

    private static func color(_ cell: Int) -> RGB {
        let value = { (bits: Int) in UInt8(clamping: bits & 31) << 3 | UInt8(clamping: bits & 31) >> 2 }
        return RGB(red: value(cell >> 10), green: value(cell >> 5), blue: value(cell))
    }
}
