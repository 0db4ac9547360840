import ByteClubCore
import ByteClubMedia

/// The hot spots of a photo for a view into it: marks in the picture, and a line for each below it.
struct SpotLegend: Sendable {
    /// The most spots outside of the view that have a line.
    static let mostOutside = 20

    /// A spot with its number in the caption, from 1.
    private struct Numbered {
        let number: Int
        let spot: HotSpot
        let sight: PanoramaSight
    }

    private let spots: [Numbered]
    private let width: Int
    private let height: Int
    /// The photo.
    private let photo: RemotePath
    /// The folder that names are relative to.
    private let folder: RemotePath

    /// Places the spots of a photo in a view of some pixels.
    init(_ spots: [HotSpot], of photo: RemotePath, below folder: RemotePath, _ view: PanoramaView, _ size: (Int, Int)) {
        (width, height) = size
        (self.photo, self.folder) = (photo, folder)
        self.spots = spots.prefix(HotSpot.most).enumerated().map { index, spot in
            let sight = view.sight(yaw: spot.yaw, pitch: spot.pitch, width: size.0, height: size.1)
            return Numbered(number: index + 1, spot: spot, sight: sight)
        }
    }

    /// The marks of the spots that are in the view.
    var marks: [PictureMark] {
        spots.compactMap { next in
            guard case .inside(let x, let y) = next.sight else { return nil }
            return PictureMark(text: String(next.number), x: x / Double(width), y: y / Double(height))
        }
    }

    /// The lines, those of the view first, with names and texts escaped; empty without spots.
    func text(_ style: TextStyle) -> String {
        var table = TextTable(
            .init("", .right), .init("", isShortened: true), .init("", isShortened: true), .init("", rank: 1))
        table.hasTitles = false
        let inside = spots.filter { Self.place(of: $0.sight) == nil }
        let outside = spots.filter { Self.place(of: $0.sight) != nil }
        for next in inside + outside.prefix(Self.mostOutside) {
            let place = Self.place(of: next.sight).map { "\($0), at \(next.spot.degrees)" } ?? ""
            let target = next.spot.name(from: photo, below: folder)
            table.rows.append([String(next.number), next.spot.label(from: photo), target, place])
        }
        let rest = outside.count - Self.mostOutside
        return style.list(table) + (rest > 0 ? "\n" + style.wrapped("and \(rest) more outside of this view") : "")
    }

    /// Where a spot is that cannot be seen; nil for one in the view.
    private static func place(of sight: PanoramaSight) -> String? {
        switch sight {
        case .inside: nil
        case .left: "to the left"
        case .right: "to the right"
        case .above: "above"
        case .below: "below"
        case .behind: "behind"
        }
    }
}

extension HotSpot {
    /// The direction as `--view` takes it.
    var degrees: String { String(line.dropFirst("at ".count).prefix { $0 != ":" }) }

    /// The words that are shown: the text, else the name of the target.
    func label(from photo: RemotePath) -> String { text.isEmpty ? path(from: photo)?.name ?? target : text }

    /// The name with which commands find the target, below the photos' folder where it is a photo; the target as it is
    /// written where it leads elsewhere.
    func name(from photo: RemotePath, below folder: RemotePath) -> String {
        path(from: photo).map { $0.name(below: folder) } ?? target
    }
}
