import ByteClubCore

/// The names that a person gives to notes and photos.
enum EntryPath {
    /// The path of a note, which may lie in a folder of the shared folder.
    static func note(_ name: String, _ login: Login) throws -> RemotePath {
        let path = try checked(name, in: login.notes)
        if path.key == (try login.photos).key {
            throw Failure(.badData, "'\(name)' is the photo folder; use 'byteclub photos'")
        }
        return path
    }

    /// The path that a note is to have: none that makes a photo of it.
    static func newNote(_ name: String, _ login: Login) throws -> RemotePath {
        let path = try note(name, login)
        if path.key.isBelow(try login.photos.key), MediaType(name: path.name).hasThumbnail {
            throw Failure(.badData, "'\(Failure.line(name))' is a photo's name; use 'byteclub photos'")
        }
        return path
    }

    /// The path of a photo, which may lie in a folder of the photos' folder.
    static func photo(_ name: String, _ login: Login) throws -> RemotePath {
        try checked(name, in: login.photos)
    }

    /// The path of an album, which is a folder of the photos' folder, or of this itself.
    static func album(_ name: String, _ login: Login) throws -> RemotePath {
        let photos = try login.photos
        return [".", "/", photos.string].contains(name) ? photos : try photo(name, login)
    }

    /// The path of anything in the shared folder, or of the whole of it without a name.
    static func entry(_ name: String?, _ login: Login) throws -> RemotePath {
        guard let name, ![".", "/", login.folder.string].contains(name) else { return login.folder }
        return try checked(name, in: login.folder)
    }

    /// Reads a name below a folder, or a whole path on the server as other commands print it.
    private static func checked(_ name: String, in folder: RemotePath) throws -> RemotePath {
        let path: RemotePath
        do {
            if name.isEmpty { throw PathError("a name cannot be empty") }
            path = try RemotePath(name.hasPrefix("/") ? name : folder.string + "/" + name)
        } catch let error as PathError {
            throw Failure(
                .badData, "invalid name '\(DisplayWidth.shortened(Failure.line(name), to: 40))': \(error.message)")
        }
        guard path.key.isBelow(folder.key) else {
            throw Failure(.badData, "'\(DisplayWidth.shortened(Failure.line(name), to: 40))' is not in '\(folder)'")
        }
        if path.components.dropFirst(folder.components.count).contains(where: NameRules.isIgnored) {
            throw Failure(.badData, "'\(name)' is a name that is never synced; choose another")
        }
        return path
    }

    /// The refusal for a name that nothing has.
    static func missing(_ kind: String, _ name: String) -> Failure {
        Failure(.noInput, "no \(kind) named '\(Failure.line(name))'; see 'byteclub \(kind)s list'")
    }
}

extension RemotePath {
    /// What a person types for this entry of a folder; the whole path when it lies elsewhere.
    func name(below folder: RemotePath) -> String {
        guard key.isBelow(folder.key) else { return string }
        return components.dropFirst(folder.components.count).joined(separator: "/")
    }
}
