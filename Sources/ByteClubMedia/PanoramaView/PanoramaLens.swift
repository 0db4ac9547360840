internal import Glibc

/// Finds the pixels of a panorama's picture by direction.
struct PanoramaLens {
    /// A place between the pixel `column`, `row` and its neighbours to the right and below.
    struct Place {
        let column: Int
        let nextColumn: Int
        let row: Int
        let nextRow: Int
        let across: Double
        let down: Double
    }

    private let picture: Picture
    private let isCylinder: Bool
    /// Whether the right edge meets the left one.
    private let isRound: Bool
    /// Radians: the picture's extent, its left edge, and its top in the measure of its rows.
    private let width: Double
    private let height: Double
    private let left: Double
    private let top: Double

    init(_ picture: Picture, _ panorama: Panorama) {
        self.picture = picture
        isCylinder = panorama.kind == .cylinder
        let across = panorama.hFOV ?? 90
        isRound = across > 359.6
        width = isRound ? 2 * .pi : across * .pi / 180
        height = (panorama.vFOV ?? across * Double(picture.height) / Double(picture.width)) * .pi / 180
        left = panorama.yaw * .pi / 180 - width / 2
        top = panorama.pitch * .pi / 180 + height / 2
    }

    /// Finds the position of a direction in the picture.
    ///
    /// - Parameters:
    ///   - azimuth: Radians right of the middle of the whole panorama.
    ///   - rise: The direction's upward part.
    ///   - level: The length of its other parts together.
    /// - Returns: The place; nil outside.
    func place(azimuth: Double, rise: Double, level: Double) -> Place? {
        var turned = (azimuth - left).truncatingRemainder(dividingBy: 2 * .pi)
        if turned < 0 { turned += 2 * .pi }
        let row = isCylinder ? rise / level : atan2(rise, level)
        let (x, y) = (turned / width, (top - row) / height)
        // The outermost directions lie on the edge, whatever rounding does to them.
        guard isRound || x < 1 + 1e-9, y > -1e-9, y < 1 + 1e-9 else { return nil }
        let column = x * Double(picture.width) - 0.5
        let line = y * Double(picture.height) - 0.5
        let (firstColumn, firstRow) = (Int(column.rounded(.down)), Int(line.rounded(.down)))
        return Place(
            column: wrapped(firstColumn), nextColumn: wrapped(firstColumn + 1),
            row: min(max(0, firstRow), picture.height - 1), nextRow: min(max(0, firstRow + 1), picture.height - 1),
            across: column - Double(firstColumn), down: line - Double(firstRow))
    }

    func sample(_ place: Place, _ channel: Int) -> UInt8 {
        func pixel(_ column: Int, _ row: Int) -> Double {
            Double(picture.rgb[(row * picture.width + column) * 3 + channel])
        }
        let above =
            pixel(place.column, place.row) * (1 - place.across) + pixel(place.nextColumn, place.row) * place.across
        let below =
            pixel(place.column, place.nextRow) * (1 - place.across) + pixel(place.nextColumn, place.nextRow)
            * place.across
        return UInt8(min(255, (above * (1 - place.down) + below * place.down + 0.5)))
    }

    private func wrapped(_ column: Int) -> Int {
        guard isRound else { return min(max(0, column), picture.width - 1) }
        return (column + picture.width) % picture.width
    }
}
