import ByteClubCore

/// The hot spots of photos behind links: those that lead to what is shared as well. Of others a page tells nothing.
extension SharePageBuilder {
    /// Adds the spots of a photo of a shared folder that lead to notes and photos of that folder.
    func addSpots(of photo: FolderEntry, to page: inout SharePage) async throws {
        let spots = try await spots(of: photo).filter { $0.path.key.isBelow(link.path.key) }
        if spots.isEmpty { return }
        let live = try await store.read { folder in
            try spots.map { spot in
                try folder.live(spot.path).flatMap { $0.isFolder ? nil : $0.path }
            }
        }
        let depth = link.path.components.count
        let rows = zip(spots, live).compactMap { spot, path in
            path.map { path in
                Self.row(
                    spot.spot, text: spot.spot.text.isEmpty ? Self.title(path) : spot.spot.text,
                    url: url(["s", link.secret, link.path.name] + path.components.dropFirst(depth)))
            }
        }
        page.spots = SharePage.Spots(rows)
    }

    /// Adds the spots of a photo of a shared note that lead to other photos of the note.
    ///
    /// They have the words that the note has for their targets: the captions in which spots are written are not shared.
    func addSpots(of photo: FolderEntry, in story: SharedStory, to page: inout SharePage) async throws {
        var words: [String: String] = [:]
        story.note.forEachInline { inline in
            if case .image(let text, let target) = inline, words[target] == nil { words[target] = text }
        }
        var targets: [PathKey: (entry: FolderEntry, text: String)] = [:]
        for (target, entry) in story.photos where targets[entry.path.key] == nil {
            targets[entry.path.key] = (entry, words[target] ?? "")
        }
        let rows = try await spots(of: photo).compactMap { spot, path -> SharePage.Spot? in
            guard let target = targets[path.key] else { return nil }
            let text = target.text.isEmpty ? Self.title(target.entry.path) : target.text
            return Self.row(spot, text: text, url: address(of: target.entry))
        }
        page.spots = SharePage.Spots(rows)
    }

    /// The spots of a photo's caption with the notes and photos to which they lead, whether these are there or not.
    private func spots(of photo: FolderEntry) async throws -> [(spot: HotSpot, path: RemotePath)] {
        let key = photo.path.key
        guard let note = try await store.captions(of: [key])[key] else { return [] }
        return PhotoCaption(note: String(decoding: note, as: UTF8.self)).spots.prefix(HotSpot.most).compactMap { spot in
            guard let path = spot.path(from: photo.path), GalleryKind(path.name) != nil else { return nil }
            return (spot, path)
        }
    }

    private static func row(_ spot: HotSpot, text: String, url: String) -> SharePage.Spot {
        SharePage.Spot(
            yaw: "\(spot.yaw)", pitch: "\(spot.pitch)", text: text,
            url: url + (spot.openingView.map { "#view=\($0)" } ?? ""))
    }

    /// A file's name without its suffix.
    private static func title(_ path: RemotePath) -> String {
        String(path.name.prefix(upTo: path.name.lastIndex(of: ".") ?? path.name.endIndex))
    }
}
