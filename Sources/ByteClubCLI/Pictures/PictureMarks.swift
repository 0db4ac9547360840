import ByteClubMedia

/// A mark at a place of a picture: a short text on a box.
struct PictureMark: Hashable, Sendable {
    /// Digits.
    var text: String
    /// The middle, as a part of the picture's width from its left edge.
    var x: Double
    /// The middle, as a part of the picture's height from its top.
    var y: Double

    /// The colour of the box.
    static let ground = RGB(red: 255, green: 215, blue: 0)
    /// The colour of the text.
    static let ink = RGB(red: 0, green: 0, blue: 0)
    /// The box and the text among a terminal's 256 colours.
    static let codes = "38;5;16;48;5;220"
}

/// A box of a mark in a field of cells or of pixels.
struct MarkPlace: Hashable, Sendable {
    var text: String
    var column: Int
    var row: Int
    var width: Int
    var height: Int

    /// Whether two boxes share a cell.
    func touches(_ other: MarkPlace) -> Bool {
        column < other.column + other.width && other.column < column + width && row < other.row + other.height
            && other.row < row + height
    }

    /// Places marks in a field, each wholly in it and nearest to its middle; a mark that would cover an earlier one
    /// moves beside it, and is left out where there is no room.
    ///
    /// - Parameters:
    ///   - marks: The marks.
    ///   - width: The field's width.
    ///   - height: The field's height.
    ///   - size: The size of a text's box.
    /// - Returns: The boxes.
    static func places(
        of marks: [PictureMark], width: Int, height: Int, size: (String) -> (width: Int, height: Int)
    ) -> [MarkPlace] {
        var places: [MarkPlace] = []
        for mark in marks {
            let box = size(mark.text)
            guard box.width <= width, box.height <= height, mark.x.isFinite, mark.y.isFinite else { continue }
            let middle = (
                x: Int(min(max(0, mark.x * Double(width)), Double(width - 1))),
                y: Int(min(max(0, mark.y * Double(height)), Double(height - 1)))
            )
            for (across, down) in [(0, 0), (0, -1), (0, 1), (1, 0), (-1, 0), (1, -1), (-1, 1)] {
                let place = MarkPlace(
                    text: mark.text,
                    column: min(max(0, middle.x - box.width / 2 + across * box.width), width - box.width),
                    row: min(max(0, middle.y - box.height / 2 + down * box.height), height - box.height),
                    width: box.width, height: box.height)
                if places.contains(where: place.touches) { continue }
                places.append(place)
                break
            }
        }
        return places
    }
}

extension Picture {
    /// The rows of the digits, five for each: three bits from left to right.
    private static let digits: [Character: [UInt8]] = [
        "0": [7, 5, 5, 5, 7], "1": [2, 6, 2, 2, 7], "2": [7, 1, 7, 4, 7], "3": [7, 1, 7, 1, 7], "4": [5, 5, 7, 1, 1],
        "5": [7, 4, 7, 1, 7], "6": [7, 4, 7, 5, 7], "7": [7, 1, 2, 2, 2], "8": [7, 5, 7, 5, 7], "9": [7, 5, 7, 1, 7],
    ]

    /// The picture with marks drawn on it, whose points are squares of `scale` pixels.
    func marked(_ marks: [PictureMark], scale: Int) -> Picture {
        let scale = max(1, scale)
        let places = MarkPlace.places(of: marks, width: width, height: height) { text in
            ((text.count * 4 + 3) * scale, 9 * scale)
        }
        if places.isEmpty { return self }
        var rgb = rgb
        func fill(_ columns: Range<Int>, _ rows: Range<Int>, _ color: RGB) {
            for row in rows {
                for column in columns {
                    let start = (row * width + column) * 3
                    (rgb[start], rgb[start + 1], rgb[start + 2]) = (color.red, color.green, color.blue)
                }
            }
        }
        for place in places {
            let (right, bottom) = (place.column + place.width, place.row + place.height)
            // The edge is as dark as the digits, so that the box is seen on bright pictures too.
            fill(place.column..<right, place.row..<bottom, PictureMark.ink)
            fill(place.column + scale..<right - scale, place.row + scale..<bottom - scale, PictureMark.ground)
            for (index, digit) in place.text.enumerated() {
                for (line, bits) in (Self.digits[digit] ?? []).enumerated() {
                    for bit in 0..<3 where bits & (4 >> bit) != 0 {
                        let column = place.column + (index * 4 + 2 + bit) * scale
                        let row = place.row + (line + 2) * scale
                        fill(column..<column + scale, row..<row + scale, PictureMark.ink)
                    }
                }
            }
        }
        return Picture(width: width, height: height, rgb: rgb) ?? self
    }
}
