import ByteClubCore
import ByteClubMedia

/// What is known of a photo; as JSON an ``EntryObject`` with `view` and what the photo says added.
struct PhotoInfo: CommandResult {
    /// How the photo should be looked at.
    struct View: Encodable, Sendable {
        var width: Int
        var height: Int
        var kind: String
        /// Degrees covered, nil when nothing says so.
        var hFOV: Double?
        var vFOV: Double?
        /// The compass direction of the middle, degrees from north through east; nil when unknown.
        var heading: Double?
        /// Which rule decided.
        var why: String
    }

    /// What the server says.
    var photo: Metadata
    /// What the photo says; nil when its tags cannot be read.
    var view: View?
    /// When and where it was taken, as the photo says.
    var details: PhotoDetails?
    /// What members say of it; empty when they say nothing.
    var caption = ""

    private static let words = [
        "sphere": "whole sphere", "partialSphere": "part of a sphere", "cylinder": "cylinder", "strip": "long strip",
        "flat": "ordinary photo",
    ]

    /// Asks the server, and reads what comes before the photo's picture.
    init(of path: RemotePath, _ remote: any Remote) async throws {
        photo = try await PhotoShow.metadata(of: path, remote)
        guard photo.bytes > 0 else { return }
        let note = try await PhotoNote.ifPossible(of: path, remote)
        caption = note?.text ?? ""
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

    /// The clock of the place, and how far it is from UTC where the photo says so.
    private static func line(_ taken: TakenTime) -> String {
        let clock = CalendarTime.utc(taken.clock.seconds).description
        return taken.offset == nil ? clock : "\(clock) (UTC\(taken.description.suffix(6)))"
    }

    /// Make and model of the camera, the make once where the model begins with it.
    private var camera: String? {
        let (make, model) = (details?.make ?? "", details?.model ?? "")
        let names = model.lowercased().hasPrefix(make.lowercased()) ? [model] : [make, model]
        let camera = names.filter { !$0.isEmpty }.joined(separator: " ")
        return camera.isEmpty ? nil : camera
    }

    private enum CodingKeys: String, CodingKey { case view, caption, camera, taken, latitude, longitude }

    func encode(to encoder: any Encoder) throws {
        try EntryObject(photo).encode(to: encoder)
        var box = encoder.container(keyedBy: CodingKeys.self)
        try box.encodeIfPresent(view, forKey: .view)
        if !caption.isEmpty { try box.encode(caption, forKey: .caption) }
        try box.encodeIfPresent(camera, forKey: .camera)
        try box.encodeIfPresent(taken?.description, forKey: .taken)
        try box.encodeIfPresent(details?.place?.latitude, forKey: .latitude)
        try box.encodeIfPresent(details?.place?.longitude, forKey: .longitude)
    }
}
