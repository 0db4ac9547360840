import ByteClubCore

extension WebSite {
    /// The most photos of a folder whose spots are looked at.
    private static let mostBeside = 10_000

    /// Has the spots that lead to a photo from those beside it lead to where it was moved.
    ///
    /// Spots of photos in other folders are not looked for: like links of notes, they lead nowhere then.
    func leadSpots(from old: RemotePath, to photo: RemotePath, _ member: Member) async throws {
        guard let folder = old.parent else { return }
        let beside = try await store.read { shared in
            try shared.state.children(folder.key, includeDeleted: false, limit: Self.mostBeside)
                .filter { !$0.isFolder && GalleryKind($0.path.name) == .photo }.map(\.path)
        }
        let notes = try await store.captions(of: beside.map(\.key))
        for path in beside {
            let leads = { (spot: HotSpot) in spot.path(from: path)?.key == old.key }
            guard let note = notes[path.key],
                PhotoCaption(note: String(decoding: note, as: UTF8.self)).spots.contains(where: leads)
            else { continue }
            do {
                try await editCaption(of: path, member) { caption in
                    caption.spots = caption.spots.map { leads($0) ? $0.leading(to: photo, from: path) : $0 }
                }
            } catch is APIError {
                // The photo is where it should be; a note that cannot be changed here stays as it is.
            }
        }
    }
}
