import ByteClubCore
import ByteClubMedia

/// Details of a photo; as JSON an ``EntryObject`` with `view`, the photo's own tags and its hot spots added.
struct PhotoInfo: CommandResult {
    /// A hot spot.
    struct Spot: Encodable, Sendable {
        /// Degrees right of the panorama's middle.
        var yaw: Double
        /// Degrees above the horizon.
        var pitch: Double
        var text: String
        /// The target as it is written.
        var target: String
        /// The file that it leads to; nil for none of the club.
        var path: String?
    }

    /// How the photo should be looked at.
    struct View: Encodable, Sendable {
        var width: Int
        var height: Int
        var kind: String
        /// Degrees covered; nil when unknown.
        var hFOV: Double?
        var vFOV: Double?
        /// The compass direction of the centre, in degrees clockwise from north; nil when unknown.
        var heading: Double?
        /// Which rule decided.
        var why: String
    }

    /// The server's metadata.
    var photo: Metadata
    /// The view by the photo's tags; nil when they cannot be read.
    var view: View?
    /// Time and place by the photo's tags.
    var details: PhotoDetails?
    /// The caption; empty without one.
    var caption = ""
    /// The places in the photo that lead elsewhere.
    var spots: [HotSpot] = []

    private static let words = [
        "sphere": "whole sphere", "partialSphere": "part of a sphere", "cylinder": "cylinder", "strip": "long strip",
        "flat": "ordinary photo",
    ]

    /// Requests the metadata, and reads the tags before the photo's picture.
    init(of path: RemotePath, _ remote: any Remote) async throws {
        photo = try await PhotoShow.metadata(of: path, remote)
        guard photo.bytes > 0 else { return }
        let note = try await PhotoNote.ifPossible(of: path, remote)
        caption = note?.text ?? ""
        spots = note?.caption.spots ?? []
        guard let (head, header) = try await PhotoHead.read(of: photo, remote) else { return }
        details = try? PhotoDetails(bytes: head)
        let chosen = note?.caption.view.flatMap { Panorama.Kind(rawValue: $0.rawValue) }
        let panorama = Panorama(header: header, view: chosen)
        view = View(
            width: panorama.seenWidth, height: panorama.seenHeight, kind: panorama.kind.rawValue, hFOV: panorama.hFOV,
            vFOV: panorama.vFOV, heading: panorama.heading, why: panorama.why)
    }

    func text(_ style: TextStyle) -> String {
        var table = TextTable(.init(), .init())
        table.rows.append(["path", photo.path.string])
        table.rows.append(["size", "\(HumanSize.shown(photo.bytes)) (\(photo.bytes))"])
        if let view {
            table.rows.append(["pixels", "\(view.width) × \(view.height)"])
            let angles = [view.hFOV, view.vFOV].compactMap { $0 }.map { "\(Int($0.rounded()))°" }
            table.rows.append([
                "view",
                ([Self.words[view.kind] ?? view.kind] + [angles.joined(separator: " × ")].filter { !$0.isEmpty })
                    .joined(separator: ", "),
            ])
            table.rows.append(["why", view.why])
            if let heading = view.heading { table.rows.append(["heading", "\(Int(heading.rounded()))°"]) }
        }
        if !caption.isEmpty {
            table.rows.append(["caption", caption.split(whereSeparator: \.isNewline).joined(separator: " ")])
        }
        for spot in spots {
            table.rows.append(["spot", "\(spot.degrees): \(spot.label(from: photo.path)) (\(spot.target))"])
        }
        if let camera { table.rows.append(["camera", camera]) }
        if let taken { table.rows.append(["taken", Self.line(taken)]) }
        if let place = details?.place { table.rows.append(["place", "\(place.latitude), \(place.longitude)"]) }
        if let date = photo.fileDate { table.rows.append(["changed", style.calendar(date.seconds).description]) }
        if let date = photo.modified { table.rows.append(["stored", style.calendar(date.seconds).description]) }
        if let rev = photo.rev { table.rows.append(["version", rev.description]) }
        if let hash = photo.contentHash { table.rows.append(["hash", hash.description]) }
        table.rows.append(["type", photo.mimeType ?? "unknown"])
        return style.facts(table)
    }

    private var taken: TakenTime? {
        details?.time.map { TakenTime(moment: APIDate(seconds: $0.seconds), offset: $0.zone) } ?? photo.photoInfo?.taken
    }

    /// The local time, and its offset from UTC if the photo has it.
    private static func line(_ taken: TakenTime) -> String {
        let clock = CalendarTime.utc(taken.clock.seconds).description
        return taken.offset == nil ? clock : "\(clock) (UTC\(taken.description.suffix(6)))"
    }

    /// Make and model of the camera, without a repetition of the make.
    private var camera: String? {
        let (make, model) = (details?.make ?? "", details?.model ?? "")
        let names = model.lowercased().hasPrefix(make.lowercased()) ? [model] : [make, model]
        let camera = names.filter { !$0.isEmpty }.joined(separator: " ")
        return camera.isEmpty ? nil : camera
    }

    private enum CodingKeys: String, CodingKey { case view, caption, spots, camera, taken, latitude, longitude }

    func encode(to encoder: any Encoder) throws {
        try EntryObject(photo).encode(to: encoder)
        var box = encoder.container(keyedBy: CodingKeys.self)
        try box.encodeIfPresent(view, forKey: .view)
        if !caption.isEmpty { try box.encode(caption, forKey: .caption) }
        if !spots.isEmpty {
            let objects = spots.map { spot in
                Spot(
                    yaw: spot.yaw, pitch: spot.pitch, text: spot.text, target: spot.target,
                    path: spot.path(from: photo.path)?.string)
            }
            try box.encode(objects, forKey: .spots)
        }
        try box.encodeIfPresent(camera, forKey: .camera)
        try box.encodeIfPresent(taken?.description, forKey: .taken)
        try box.encodeIfPresent(details?.place?.latitude, forKey: .latitude)
        try box.encodeIfPresent(details?.place?.longitude, forKey: .longitude)
    }
}

/// The part of a photo before its picture.
enum PhotoHead {
    /// Bytes to read first; most photos have all their tags in them.
    private static let first = 256 << 10
    /// The most bytes to read, for photos with sounds and further pictures in their tags.
    private static let most = 32 << 20

    /// Reads a photo's first bytes, up to the beginning of its picture, and parses its header; nil when it is not a
    /// JPEG.
    ///
    /// - Throws: A ``RemoteError``.
    static func read(of photo: Metadata, _ remote: any Remote) async throws -> (bytes: [UInt8], header: JPEGHeader)? {
        var head: [UInt8] = []
        var wanted = first
        while true {
            let range = Int64(head.count)..<min(photo.bytes, Int64(wanted))
            head += try await remote.content(
                at: photo.path, revision: photo.rev, range: range, limit: wanted - head.count
            ).bytes
            do {
                return (head, try JPEGHeader(bytes: head))
            } catch {
                // A truncated head also looks like a damaged photo: read more.
                guard error.code == .damaged, head.count == wanted, wanted < photo.bytes, wanted < most else {
                    return nil
                }
                wanted *= 4
            }
        }
    }
}
