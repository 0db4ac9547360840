import ByteClubCore

/// What pages need to show a photo: the pictures of it that the server has, and their size.
struct PhotoTile {
    /// The sizes of pictures by their longer sides, in pixels.
    private static let sizes = [256, 512, 1024, 2048, 4096]

    let hash: ContentHash
    /// What the photo is; nil as long as nobody has looked.
    let shape: PhotoShape?
    /// How members want to see it, else how its tags say.
    let kind: PhotoShape.Kind

    /// A photo by its content, with the view that a caption chooses.
    init(_ hash: ContentHash, _ shape: PhotoShape?, view: PhotoShape.Kind?) {
        self.hash = hash
        self.shape = shape.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
        kind = view ?? shape?.kind ?? .flat
    }

    /// Where its pictures are.
    var base: String { "/photos/\(Hexadecimal.encode(Array(hash.bytes)))/" }

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

    /// The values of a template for an image element whose pictures are up to so large.
    func image(upTo largest: Int) -> [String: Any] {
        let (width, height) = shape.map { ($0.width, $0.height) } ?? (512, 512)
        let sources = Self.sizes.filter { $0 <= largest }.map { size in
            "\(base)\(size).jpg \(max(1, Int(Double(width) * min(1, Double(size) / Double(max(width, height))))))w"
        }
        // A photo that is smaller than a size has the same picture for that and all larger ones.
        var (seen, different): (Set<Substring>, [String]) = ([], [])
        for source in sources where seen.insert(source.drop { $0 != " " }).inserted { different.append(source) }
        return [
            "src": "\(base)\(largest == 1024 ? 512 : largest).jpg", "srcset": different.joined(separator: ", "),
            "width": width, "height": height,
        ]
    }

    /// The values of a template for the viewer.
    var viewer: [String: Any] {
        var values: [String: Any] = ["kind": kind.rawValue, "base": base]
        if let shape {
            values["width"] = shape.width
            values["height"] = shape.height
            let angles = [("yaw", shape.yaw), ("pitch", shape.pitch), ("hfov", shape.hFOV), ("vfov", shape.vFOV)]
            for (name, angle) in angles + [("heading", shape.heading)] { values[name] = angle.map { "\($0)" } }
            // Without tags only a person can tell; a smaller one is worth no look around.
            values["mayBeSphere"] = kind == .strip && shape.width == 2 * shape.height && shape.width >= 2048
        }
        return values
    }
}
