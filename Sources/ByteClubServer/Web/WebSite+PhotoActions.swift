import ByteClubCore
import HTTPTypes

extension WebSite {
    /// Changes a photo by a form of its page: `POST /photo/<action>/<path>`.
    ///
    /// A script, which accepts JSON, gets the address to continue at, or the link that was made; other browsers are sent
    /// there.
    func changePhoto(_ visit: Visit, _ member: Member) async throws -> Response {
        let takesJSON = visit.request.headers[values: .accept].contains("application/json")
        do {
            guard member.role >= .editor else { throw Self.viewersChangeNothing }
            let (action, path) = try Self.photoAction(visit)
            if action == .share {
                let made = try await makeLink(to: path, visit, member)
                if takesJSON { return .object { $0.member("url", made.url) } }
                return try await photo(path, visit, member, nil, link: made)
            }
            let page = try await change(path, action, visit, member)
            return takesJSON ? .object { $0.member("location", page) } : redirect(page)
        } catch let error as APIError where takesJSON {
            return .refusal(error)
        }
    }

    /// Does an action, and returns the address of the page that shows what came of it.
    private func change(
        _ path: RemotePath, _ action: PhotoAction, _ visit: Visit, _ member: Member
    ) async throws -> String {
        let (parameters, here) = (visit.request.parameters, Self.url(of: path))
        switch action {
        case .share: break
        case .delete:
            let seen = try parameters.revision("rev")
            try await change(by: member) { try PhotoChange.delete(path, seen: seen, in: &$0) }
        case .restore:
            let revision = try parameters.revision("rev")
            try await change(by: member) { try PhotoChange.restore(path, to: revision, in: &$0) }
        case .move:
            let target = try Self.target(of: path, folder: visit["folder"] ?? "", name: visit["name"] ?? "")
            if target == path { return here }
            try await change(by: member) { try PhotoChange.move(path, to: target, in: &$0) }
            if target.parent != path.parent { try await keepSpots(of: target, movedFrom: path, member) }
            try await leadSpots(from: path, to: target, member)
            return Self.url(of: target)
        case .view:
            let word = visit["view"] ?? ""
            let kind = PhotoShape.Kind(rawValue: word)
            if kind == nil, word != "auto" { throw APIError(400, "There is no such view.") }
            try await editCaption(of: path, member) { $0.view = kind }
        case .spot: return here + (try await changeSpots(of: path, visit, member))
        }
        return here
    }

    /// The actions of a photo's page, as they stand in addresses.
    private enum PhotoAction: String {
        case delete, move, restore, share, spot, view
    }

    private static func photoAction(_ visit: Visit) throws(APIError) -> (PhotoAction, RemotePath) {
        let tail = visit.request.tail
        guard let action = tail.first.flatMap(PhotoAction.init(rawValue:)),
            let path = try? RemotePath(tail.dropFirst().joined(separator: "/")), GalleryKind(path.name) == .photo
        else { throw APIError(404, "Page not found.") }
        return (action, path)
    }

    /// The path that a photo gets in the album and with the name that were typed; a name keeps the photo's suffix.
    ///
    /// - Throws: ``APIError`` 400 when they make no path.
    static func target(of photo: RemotePath, folder: String, name: String) throws(APIError) -> RemotePath {
        var name = name.isEmpty ? photo.name : name
        if GalleryKind(name) != .photo, let dot = photo.name.lastIndex(of: ".") { name += photo.name[dot...] }
        guard !name.contains("/") else { throw APIError(400, "A name cannot contain '/'.") }
        let album = folder.hasPrefix("/") ? folder : photosFolder + "/" + folder
        do {
            return try RemotePath(album.split(separator: "/").map { "/" + $0 }.joined() + "/" + name)
        } catch {
            throw APIError(400, "\(error)")
        }
    }

    // MARK: - Captions

    /// Adds a spot, or removes one; returns the part of the address that shows where it is.
    private func changeSpots(of photo: RemotePath, _ visit: Visit, _ member: Member) async throws -> String {
        if let line = visit["remove"] {
            try await editCaption(of: photo, member) { caption in
                if let index = caption.spots.firstIndex(where: { $0.line == line }) { caption.spots.remove(at: index) }
            }
            return ""
        }
        guard let yaw = visit["yaw"].flatMap(Double.init), let pitch = visit["pitch"].flatMap(Double.init),
            abs(yaw) <= 360, abs(pitch) <= 90
        else { throw APIError(400, "A spot needs two angles in degrees.") }
        let target = try Self.spotTarget(visit["target"] ?? "", beside: photo)
        _ = try await store.read { try $0.file(target, revision: nil) }
        let text = String((visit["text"] ?? "").prefix(200))
        let spot = HotSpot(yaw: yaw, pitch: pitch, text: text, to: target, from: photo)
        guard spot.path(from: photo) == target, HotSpot(line: spot.line) == spot else {
            throw APIError(400, "A spot cannot lead there.")
        }
        try await editCaption(of: photo, member) { caption in
            guard caption.spots.count < HotSpot.most else {
                throw APIError(400, "A photo has at most \(HotSpot.most) spots.")
            }
            caption.spots.append(spot)
        }
        return "#view=\(spot.yaw),\(spot.pitch)"
    }

    /// The file that was typed as a target: a path relative to the photo's folder, or the address of its page.
    private static func spotTarget(_ text: String, beside photo: RemotePath) throws(APIError) -> RemotePath {
        var path: RemotePath?
        if let page = text.firstRange(of: "/gallery/") {
            path = PercentEncoding.decode(text[page.upperBound...].prefix { !"?#".contains($0) }, plusIsBlank: false)
                .flatMap { try? RemotePath($0) }
        } else if !text.isEmpty {
            path = HotSpot.file(text, beside: photo)
        }
        guard let path, GalleryKind(path.name) != nil else {
            throw APIError(400, "'\(text.prefix(200))' is not a photo or note of this club.")
        }
        return path
    }

    /// Has the spots of a photo that was moved to another folder lead where they led.
    private func keepSpots(of photo: RemotePath, movedFrom old: RemotePath, _ member: Member) async throws {
        do {
            try await editCaption(of: photo, member) { caption in
                caption.spots = caption.spots.map { $0.moved(from: old, to: photo) }
            }
        } catch is APIError {
            // The photo is where it should be; a note that cannot be changed here stays as it is.
        }
    }

    /// Changes the caption note of a photo as it is now, however often others change it meanwhile.
    ///
    /// - Throws: ``APIError`` 404 without the photo, 409 when the note is no text or too long to change here.
    func editCaption(
        of photo: RemotePath, _ member: Member, _ edit: (inout PhotoCaption) throws -> Void
    ) async throws {
        let path = try PhotoCaption.path(of: photo)
        var isSame = false
        func edited() async throws -> Attempt? {
            let note = try await store.read { folder in
                _ = try folder.file(photo, revision: nil)
                return try folder.live(path)
            }
            let known = try await text(at: path, limit: Draft.limit)
            if note != nil, known == nil {
                throw APIError(409, "The note '\(path.name)' is too long to change here, or not text.")
            }
            var caption = PhotoCaption(note: known?.text ?? "")
            let before = caption
            try edit(&caption)
            isSame = caption == before || (caption.note.isEmpty && known == nil)
            if isSame { return nil }
            guard caption.note.utf8.count <= Draft.limit else {
                throw APIError(413, "The note '\(path.name)' would become too long.")
            }
            let parent = known.flatMap { JournalRevision($0.revision) }
            let text = caption.note.isEmpty ? nil : caption.note
            return (text, parent.map { .parent($0.revision) } ?? .create)
        }
        guard let first = try await edited() else { return }
        let isWritten = try await write(first, to: path, member) { try await edited() }
        if !isWritten, !isSame { throw APIError(409, "The caption keeps changing. Try again.") }
    }
}

/// The changes of a photo together with its caption.
enum PhotoChange {
    /// Seconds between the deletions of a photo and of its caption that count as one; a mirror sends them in any order.
    private static let together: ClosedRange<Int64> = -2...60

    /// Deletes a photo with its caption.
    ///
    /// - Throws: ``APIError`` 404 without the photo, 409 when it is newer than `seen`.
    static func delete(_ path: RemotePath, seen: JournalRevision?, in folder: inout SharedFolder) throws {
        _ = try folder.file(path, revision: nil)
        _ = try folder.delete(path, seen: seen)
        if let note = try caption(of: path, in: folder) { _ = try folder.delete(note.path, seen: nil) }
    }

    /// Gives a photo the content of a version; without one, restores a deleted photo with the caption that was deleted
    /// with it.
    ///
    /// - Throws: ``APIError`` 404 when there is nothing to restore.
    static func restore(_ path: RemotePath, to revision: JournalRevision?, in folder: inout SharedFolder) throws {
        let newest = try folder.latest(path)
        let known = try revision?.number ?? last(path, in: folder)
        guard let newest, let known else { throw APIError.notFound(path) }
        _ = try folder.restore(path, to: JournalRevision(number: known))
        guard newest.isDeleted, let note = try? PhotoCaption.path(of: path), let gone = try folder.latest(note),
            gone.isDeleted, together.contains(gone.modified.seconds - newest.modified.seconds),
            let text = try last(note, in: folder)
        else { return }
        _ = try folder.restore(note, to: JournalRevision(number: text))
    }

    /// Moves a photo with its caption.
    ///
    /// - Throws: ``APIError`` 404 without the photo, 403 when the new place is taken.
    static func move(_ path: RemotePath, to target: RemotePath, in folder: inout SharedFolder) throws {
        _ = try folder.file(path, revision: nil)
        let note = try caption(of: path, in: folder)
        _ = try folder.move(path, to: target)
        guard let place = try? PhotoCaption.path(of: target) else {
            if note == nil { return }
            throw APIError(400, "The name is too long for a photo with a caption.")
        }
        if place.key != note?.path.key, try folder.live(place) != nil {
            throw APIError(403, "The note '\(place.name)' is already there and would become the photo's caption.")
        }
        if let note { _ = try folder.move(note.path, to: place) }
    }

    private static func caption(of photo: RemotePath, in folder: SharedFolder) throws -> FolderEntry? {
        guard let path = try? PhotoCaption.path(of: photo), let note = try folder.live(path), !note.isFolder else {
            return nil
        }
        return note
    }

    /// The newest version of a path that is no deletion.
    private static func last(_ path: RemotePath, in folder: SharedFolder) throws -> Int64? {
        try folder.state.versions(path.key, before: nil, limit: 20).first { !$0.isDeleted && !$0.isFolder }?.revision
    }
}

extension HotSpot {
    /// The spot of a photo that was moved, leading where it led.
    fileprivate func moved(from old: RemotePath, to photo: RemotePath) -> HotSpot {
        path(from: old).map { leading(to: $0, from: photo) } ?? self
    }

    /// The spot of a photo, leading to another file.
    func leading(to target: RemotePath, from photo: RemotePath) -> HotSpot {
        let moved = HotSpot(yaw: yaw, pitch: pitch, text: text, to: target, from: photo)
        guard let view = openingView else { return moved }
        return HotSpot(line: moved.line.dropLast() + "#view=\(view))") ?? moved
    }
}
