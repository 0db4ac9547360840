import ByteClubCore
import ByteClubMedia

/// What pages need to show a photo: the pictures of it that the server has, and their size.
struct PhotoTile {
    /// What the photo is, as members want to see it; nil as long as nobody has looked.
    let shape: PhotoShape?
    /// What the addresses of its pictures begin with.
    let base: String

    /// A photo, with the view that a caption chooses and where its pictures are.
    init(_ shape: PhotoShape?, view: PhotoShape.Kind?, base: String) {
        let known = shape.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
        self.shape = view.flatMap { known?.viewed(as: $0) } ?? known
        self.base = base
    }

    /// A photo by its content, whose pictures members see.
    init(_ hash: ContentHash, _ shape: PhotoShape?, view: PhotoShape.Kind?) {
        self.init(shape, view: view, base: "/photos/\(hash)/")
    }

    /// How it is shown.
    var kind: PhotoShape.Kind { shape?.kind ?? .flat }

    /// Whether it may be a whole sphere that does not say so: only a person can tell, and a small one is worth no look
    /// around.
    var mayBeSphere: Bool {
        guard let shape else { return false }
        return kind == .strip && shape.width == 2 * shape.height && shape.width >= 2048
    }

    /// Whether it takes a row of its own.
    var isWide: Bool { shape != nil && kind != .flat }

    /// What its badge says; nil for an ordinary photo.
    var badge: String? {
        switch kind {
        case .sphere: "360°"
        case .partialSphere, .cylinder, .strip: "panorama"
        case .flat: nil
        }
    }

    /// What it is in words, as in `a sphere, 360° × 180°`.
    var phrase: String {
        let name =
            switch kind {
            case .sphere: "whole sphere"
            case .partialSphere: "part of a sphere"
            case .cylinder: "cylinder"
            case .strip: "long strip"
            case .flat: "ordinary photo"
            }
        guard let shape else { return name }
        var text = "\(name), \(shape.width) × \(shape.height) pixels"
        if kind != .flat, let hFOV = shape.hFOV {
            text += ", \(shape.isEstimate ? "about " : "")\(Int(hFOV.rounded()))°"
            if let vFOV = shape.vFOV { text += " × \(Int(vFOV.rounded()))°" }
        }
        return text
    }

    /// The side in pixels of the tiles that it has beside its pictures; nil when it has none.
    var tiles: Int? {
        guard let shape, max(shape.width, shape.height) > Tiles.longestWithout else { return nil }
        return Tiles.side
    }

    /// Its pictures up to a size with their widths, as in an image's `srcset`; nil when its size is not known.
    func sources(upTo largest: Int = .max) -> String? {
        guard let shape else { return nil }
        let long = max(shape.width, shape.height)
        // One that is as large as the photo is enough.
        let enough = PictureStore.sizes.filter { $0 < long }.count + 1
        return PictureStore.sizes.prefix(enough).filter { $0 <= largest }.map { size in
            "\(base)\(size).jpg \(max(1, shape.width * min(long, size) / long))w"
        }.joined(separator: ", ")
    }

    /// The values of a template for an image element whose pictures are up to so large.
    func image(upTo largest: Int) -> [String: Any] {
        var values: [String: Any] = [
            "src": "\(base)\(largest == 1024 ? 512 : largest).jpg", "width": shape?.width ?? 512,
            "height": shape?.height ?? 512,
        ]
        values["srcset"] = sources(upTo: largest)
        return values
    }

    /// The values of a template for the viewer.
    var viewer: [String: Any] {
        var values: [String: Any] = ["kind": kind.rawValue, "base": base, "mayBeSphere": mayBeSphere]
        if let shape {
            values["width"] = shape.width
            values["height"] = shape.height
            values["tiles"] = tiles
            let angles = [("yaw", shape.yaw), ("pitch", shape.pitch), ("hfov", shape.hFOV), ("vfov", shape.vFOV)]
            for (name, angle) in angles + [("heading", shape.heading)] { values[name] = angle.map { "\($0)" } }
        }
        return values
    }
}
