import ArgumentParser
import ByteClubCore

/// The command `byteclub photos mv OLD NEW`.
struct PhotosMoveCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "mv",
        abstract: "Give a photo or an album another name, or move it into an album.",
        discussion: """
            Never replaces a photo. A new name that ends in '/' is an album, created if missing; the photo moves \
            there and keeps its name, as it does if the new name is an existing album. A photo's caption moves with \
            it. A new name without a suffix gets the photo's.

            Examples:
              byteclub photos mv IMG_4711.jpg ridge.jpg
              byteclub photos mv ridge.jpg 'Trip 2026/'
              byteclub photos mv 'Trip 2026' 'Dolomites 2026'
            """)

    @Argument(help: "The photo's or the album's name.", completion: .names)
    var name: String

    @Argument(
        help: ArgumentHelp("The new name, or an album with a trailing '/'.", valueName: "new-name"), completion: .names)
    var destination: String

    @OptionGroup var options: RemoteOptions

    func answer(_ login: Login, _ context: Context) async throws -> EntryChange {
        let (photos, path) = (try login.photos, try EntryPath.photo(name, login))
        let isInto = destination.hasSuffix("/") || destination == "."
        // The photos' folder is a valid target, but not an entry in itself.
        let target = try isInto ? EntryPath.album(destination, login) : EntryPath.photo(destination, login)
        let move = PhotoMove(folder: photos, path: path, target: target, isInto: isInto)
        let moved = try await context.withRemote(login) { try await move.run($0) }
        return EntryChange(verb: "moved '\(path.name(below: photos))' to", entry: moved, folder: photos)
    }
}

/// Moves a photo with its caption, or an album.
struct PhotoMove: Sendable {
    /// The folder that photos are named relative to.
    let folder: RemotePath
    /// The photo or album to move.
    let path: RemotePath
    /// Its new place.
    let target: RemotePath
    /// Whether the target is the folder to move into.
    let isInto: Bool

    /// Moves it, and returns the photo or album at its new path.
    ///
    /// - Throws: A ``Failure`` when there is no such photo, or the target exists, with nothing moved; another when only
    ///   the caption could not be moved.
    func run(_ remote: any Remote) async throws -> Metadata {
        let name = path.name(below: folder)
        guard let current = try await EntryRemoval.present(path, remote) else {
            throw EntryPath.missing("photo", name)
        }
        if !current.isFolder, !current.isPhoto {
            throw Failure(.badData, "'\(name)' is not a photo; 'byteclub notes mv' moves notes")
        }
        let target = try await place(of: current, remote)
        let caption = current.isFolder ? nil : try await caption(to: target, remote)
        let moved = try await EntryMove.move(current.path, to: target, below: folder, kind: "photo", remote)
        if let (note, place) = caption {
            do { _ = try await EntryMove.move(note, to: place, below: folder, kind: "note", remote) } catch {
                throw Failure(
                    .tryAgain,
                    "'\(name)' is now '\(moved.path.name(below: folder))', but its caption is still "
                        + "'\(note.name(below: folder))': \(Failure(error).message); 'byteclub notes mv' moves it")
            }
        }
        return moved
    }

    /// The target: in a named folder or one that has the new name; else the new name, with the photo's suffix.
    private func place(of current: Metadata, _ remote: any Remote) async throws -> RemotePath {
        if isInto { return try target.appending(current.path.name) }
        if target.key != path.key, let there = try await EntryRemoval.present(target, remote), there.isFolder {
            return try there.path.appending(current.path.name)
        }
        if current.isFolder || MediaType(name: target.name).hasThumbnail { return target }
        guard let dot = current.path.name.lastIndex(of: "."), let folder = target.parent else { return target }
        return try folder.appending(target.name + current.path.name[dot...])
    }

    /// The note of a photo and its new path; nil without one.
    ///
    /// - Throws: A ``Failure`` when the target has another note, which would become the photo's caption.
    private func caption(
        to target: RemotePath, _ remote: any Remote
    ) async throws -> (note: RemotePath, place: RemotePath)? {
        let own = try? PhotoCaption.path(of: path)
        var note: Metadata?
        if let own { note = try await EntryRemoval.present(own, remote) }
        if note?.isFolder == true { note = nil }
        let place: RemotePath
        do { place = try PhotoCaption.path(of: target) } catch {
            if note == nil { return nil }
            throw error
        }
        if place.key != own?.key, let other = try await EntryRemoval.present(place, remote),
            note != nil || !other.isFolder
        {
            try await EntryMove.checkFree(target, for: path, below: folder, remote)
            let name = Failure.line(place.name(below: folder))
            throw Failure(
                .cannotCreate,
                other.isFolder
                    ? "the folder '\(name)' already exists where the caption would go"
                    : "the note '\(name)' already exists and would become the photo's caption; move it first with "
                        + "\(ShellWord.command("byteclub notes mv", place.string))")
        }
        return note.map { ($0.path, place) }
    }
}
