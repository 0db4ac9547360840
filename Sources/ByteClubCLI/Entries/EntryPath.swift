import ByteClubCore

/// Paths for the typed names of notes and photos.
enum EntryPath {
    /// The path of a note in the shared folder or below it.
    static func note(_ name: String, _ login: Login) throws -> RemotePath {
        let path = try checked(name, in: login.notes)
        if path.key == (try login.photos).key {
            throw Failure(.badData, "'\(name)' is the photo folder; use 'byteclub photos'")
        }
        return path
    }

    /// The path for a new note, which must not be that of a photo.
    static func newNote(_ name: String, _ login: Login) throws -> RemotePath {
        let path = try note(name, login)
        if path.key.isBelow(try login.photos.key), MediaType(name: path.name).hasThumbnail {
            throw Failure(.badData, "'\(Failure.line(name))' is a photo's name; use 'byteclub photos'")
        }
        return path
    }

    /// The path of a photo in the photos' folder or below it.
    static func photo(_ name: String, _ login: Login) throws -> RemotePath {
        try checked(name, in: login.photos)
    }

    /// The path of an album, a folder below the photos' folder; or of the photos' folder itself.
    static func album(_ name: String, _ login: Login) throws -> RemotePath {
        let photos = try login.photos
        return [".", "/", photos.string].contains(name) ? photos : try photo(name, login)
    }

    /// The path of any entry in the shared folder; without a name the shared folder itself.
    static func entry(_ name: String?, _ login: Login) throws -> RemotePath {
        guard let name, ![".", "/", login.folder.string].contains(name) else { return login.folder }
        return try checked(name, in: login.folder)
    }

    /// Parses a name relative to a folder, or an absolute path on the server as other commands print it.
    private static func checked(_ name: String, in folder: RemotePath) throws -> RemotePath {
        let path = try parsed(name, in: folder, "name", ifEmpty: "a name cannot be empty")
        guard path.key.isBelow(folder.key) else {
            throw Failure(.badData, "'\(DisplayWidth.shortened(Failure.line(name), to: 40))' is not in '\(folder)'")
        }
        if path.components.dropFirst(folder.components.count).contains(where: NameRules.isIgnored) {
            throw Failure(.badData, "'\(name)' is a name that is never synced; choose another")
        }
        return path
    }

    /// Parses a name without a check of its place; `kind` and `empty` are for messages.
    static func parsed(
        _ name: String, in folder: RemotePath, _ kind: String, ifEmpty empty: String
    ) throws -> RemotePath {
        do throws(PathError) {
            if name.isEmpty { throw PathError(empty) }
            return try RemotePath(name.hasPrefix("/") ? name : folder.string + "/" + name)
        } catch {
            throw Failure(
                .badData, "invalid \(kind) '\(DisplayWidth.shortened(Failure.line(name), to: 40))': \(error.message)")
        }
    }

    /// The failure for a folder's name where a note or photo is expected.
    static func folder(_ kind: String, _ name: String) -> Failure {
        Failure(.badData, "'\(Failure.line(name))' is a folder, not a \(kind)")
    }

    /// The failure for a path at which the server has no note or photo: there may be a folder.
    static func refusal(_ kind: String, _ path: RemotePath, below folder: RemotePath, _ remote: any Remote) async
        -> Failure
    {
        let (name, entry) = (path.name(below: folder), try? await EntryRemoval.present(path, remote))
        return entry?.isFolder == true ? Self.folder(kind, name) : missing(kind, name)
    }

    /// The failure for a name that does not exist.
    static func missing(_ kind: String, _ name: String) -> Failure {
        Failure(.noInput, "no \(kind) named '\(Failure.line(name))'; see 'byteclub \(kind)s list'")
    }
}

extension RemotePath {
    /// The name that a user types for this entry of a folder; the whole path for entries elsewhere.
    func name(below folder: RemotePath) -> String {
        guard key.isBelow(folder.key) else { return string }
        return components.dropFirst(folder.components.count).joined(separator: "/")
    }
}
