import ByteClubCore
import ByteClubMedia

/// A photo as the templates of pages show it: as a picture, in the viewer, or as a tile of a gallery.
struct PhotoTile {
    /// The photo's own shape, or the one that its caption chooses; nil while it is unknown.
    let shape: PhotoShape?
    /// The start of the addresses of its pictures.
    let base: String

    /// The kind of picture; nil while it is unknown.
    let kind: String?
    let width: Int?
    let height: Int?
    /// The angles in degrees; nil when they are unknown.
    let hfov: String?
    let vfov: String?
    let yaw: String?
    let pitch: String?
    let heading: String?
    /// The side of its tiles in pixels; nil when it has none.
    let tiles: Int?
    /// Whether it may be a whole sphere without the metadata of one: only a person can tell, and a small one is worth no
    /// look around.
    let mayBeSphere: Bool
    /// The largest of its pictures that the page asks for.
    let src: String
    /// Its pictures up to that one with their widths; nil when its size is unknown.
    let srcset: String?
    /// How wide it is in a row of the gallery, for browsers that choose among these; nil when its size is unknown.
    let sizes: String?

    /// The address of its page.
    var url = ""
    var name = ""
    /// The text for people who cannot see it.
    var alt = ""
    var caption: String?
    /// Whether it has a row of its own.
    var isWide: Bool
    /// The text on its badge; nil for an ordinary photo.
    let badge: String?
    /// Whether it is in the first row, which browsers load at once.
    var isEager = false

    /// A photo.
    ///
    /// - Parameters:
    ///   - shape: Its own shape; nil while it is unknown.
    ///   - view: The kind that its caption chooses.
    ///   - base: The start of the addresses of its pictures.
    ///   - largest: The size of the largest picture that the page asks for.
    ///   - wide: The same when the photo has a row of its own.
    init(
        _ shape: PhotoShape?, view: PhotoShape.Kind?, base: String, upTo largest: Int = .max,
        orWhenWide wide: Int? = nil
    ) {
        let known = shape.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
        let shape = view.flatMap { known?.viewed(as: $0) } ?? known
        self.shape = shape
        self.base = base
        kind = shape?.kind.rawValue
        (width, height) = (shape?.width, shape?.height)
        (hfov, vfov) = (shape?.hFOV.map { "\($0)" }, shape?.vFOV.map { "\($0)" })
        (yaw, pitch) = (shape.map { "\($0.yaw)" }, shape.map { "\($0.pitch)" })
        heading = shape?.heading.map { "\($0)" }
        tiles = shape.flatMap { max($0.width, $0.height) > Tiles.longestWithout ? Tiles.side : nil }
        mayBeSphere = shape.map { $0.kind == .strip && $0.width == 2 * $0.height && $0.width >= 2048 } ?? false
        isWide = shape.map { $0.kind != .flat } ?? false
        let largest = isWide ? wide ?? largest : largest
        src = "\(base)\(largest == 1024 ? 512 : min(largest, 2048)).jpg"
        srcset = shape.map { Self.sources(of: $0, base, upTo: largest) }
        // As layout.js places it.
        sizes = shape.map { shape in
            let ratio = Double(shape.width) / Double(shape.height)
            return "(min-width: 600px) \(Int(235 * min(4, ratio)))px, \(Int(150 * min(2.6, ratio)))px"
        }
        badge =
            switch shape?.kind {
            case .sphere: "360°"
            case .partialSphere, .cylinder, .strip: "panorama"
            case .flat, nil: nil
            }
    }

    private static func sources(of shape: PhotoShape, _ base: String, upTo largest: Int) -> String {
        let long = max(shape.width, shape.height)
        // One that is as large as the photo is enough.
        let enough = PictureStore.sizes.filter { $0 < long }.count + 1
        return PictureStore.sizes.prefix(enough).filter { $0 <= largest }.map { size in
            "\(base)\(size).jpg \(max(1, shape.width * min(long, size) / long))w"
        }.joined(separator: ", ")
    }

    /// Its kind and size in words, as in `a sphere, 360° × 180°`.
    var phrase: String {
        let name =
            switch shape?.kind {
            case .sphere: "whole sphere"
            case .partialSphere: "part of a sphere"
            case .cylinder: "cylinder"
            case .strip: "long strip"
            case .flat, nil: "ordinary photo"
            }
        guard let shape else { return name }
        var text = "\(name), \(shape.width) × \(shape.height) pixels"
        if isWide, let hFOV = shape.hFOV {
            text += ", \(shape.isEstimate ? "about " : "")\(Int(hFOV.rounded()))°"
            if let vFOV = shape.vFOV { text += " × \(Int(vFOV.rounded()))°" }
        }
        return text
    }
}
