import ByteClubCore

/// The names that a person gives to notes and photos.
enum EntryPath {
    /// The path of a note.
    static func note(_ name: String, _ login: Login) throws -> RemotePath {
        let path = try checked(name, in: login.notes)
        if path.key == (try login.photos).key {
            throw Failure(.badData, "'\(name)' is the folder of the photos; use 'byteclub photos'")
        }
        return path
    }

    /// The path of a photo.
    static func photo(_ name: String, _ login: Login) throws -> RemotePath {
        try checked(name, in: login.photos)
    }

    private static func checked(_ name: String, in folder: RemotePath) throws -> RemotePath {
        let path: RemotePath
        do { path = try folder.appending(name) } catch {
            throw Failure(
                .badData, "'\(DisplayWidth.shortened(Failure.line(name), to: 40))' cannot be a name: \(error.message)")
        }
        if NameRules.isIgnored(path.name) {
            throw Failure(.badData, "'\(name)' is a name that is never shared; choose another")
        }
        return path
    }

    /// The refusal for a name that nothing has.
    static func missing(_ kind: String, _ name: String) -> Failure {
        Failure(.noInput, "there is no \(kind) '\(Failure.line(name))'; see 'byteclub \(kind)s list'")
    }
}
