import ByteClubCore

extension WebSite {
    /// Shows the page of a photo, with a caption that is not saved in its form.
    func photo(
        _ path: RemotePath, _ visit: Visit, _ member: Member, _ draft: Draft?
    ) async throws -> Response {
        let entry = try await store.read { try $0.file(path, revision: nil) }
        guard let hash = entry.contentHash else { throw APIError.notFound(path) }
        let info = try await describe([entry], visit, member).first?.photoInfo
        let told = try await text(at: PhotoCaption.path(of: path), limit: Draft.limit)
        let caption = PhotoCaption(note: told?.text ?? "")
        var photo = PhotoTile(info?.shape, view: caption.view, base: "/photos/\(hash)/", upTo: 2048)
        photo.caption = caption.text
        let place = info?.place.map { "\(Self.degrees($0.latitude)), \(Self.degrees($0.longitude))" }
        photo.alt =
            caption.text.isEmpty
            ? Self.alternative(photo, info?.taken?.clock ?? Self.fileTime(of: entry).onServerClock, place)
            : caption.text
        let at = try await store.galleryPlace(of: entry.revision)
        // Browsers show the time of a file by their own clock, but not the time of a photo.
        let page = (
            name: path.name, photo: photo, phrase: photo.phrase, size: HumanSize.text(entry.bytes),
            taken: info?.taken.map(Self.minute), changed: info?.taken == nil ? Moment(Self.fileTime(of: entry)) : nil,
            place: place, geo: info?.place.map { "geo:\($0.latitude),\($0.longitude)" },
            action: Self.url(of: path), newer: try await neighbour(at.map { .newer(than: $0) }, visit, member),
            older: try await neighbour(at.map { .older(than: $0) }, visit, member),
            form: member.role >= .editor ? draft ?? Draft(text: caption.text, revision: told?.revision ?? "") : nil
        )
        return view(
            .photo, page, visit, draft.map { $0.theirs == nil ? 400 : 409 } ?? 200, policy: Self.picturePolicy)
    }

    private static func degrees(_ value: Double) -> String {
        let rounded = Int((value * 1e4).rounded())
        let digits = String(abs(rounded) % 10_000)
        return "\(rounded < 0 ? "-" : "")\(abs(rounded) / 10_000)." + String(repeating: "0", count: 4 - digits.count)
            + digits
    }
}
