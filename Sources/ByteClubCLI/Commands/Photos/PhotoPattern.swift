import ByteClubCore
import Glibc

/// A photo that a name or a pattern stands for.
struct FoundPhoto: Sendable {
    let path: RemotePath
    /// Its path below the folder of the photos where it was listed, and its name where it was named itself.
    let place: String
    /// What the server told of it, where it was listed.
    var known: Metadata?

    /// A photo that was named.
    init(path: RemotePath) {
        self.path = path
        place = path.name
    }

    /// A photo that was listed in a folder or in one below it.
    init(_ known: Metadata, below folder: RemotePath) {
        path = known.path
        place = known.path.name(below: folder)
        self.known = known
    }
}

/// A name with `*`, `?` or `[...]` in it, which stands for all the photos that it fits, as in the shell (glob(7)).
enum PhotoPattern {
    /// Whether a name is a pattern.
    static func isPattern(_ name: String) -> Bool { name.contains { "*?[".contains($0) } }

    /// Whether a name may be an album's: it is no pattern, and no photo is called so.
    static func mayBeAlbum(_ name: String) -> Bool {
        !isPattern(name) && (name.hasSuffix("/") || !MediaType(name: name).hasThumbnail)
    }

    /// Whether a name means one photo: since it is neither a pattern nor an album, or is a photo's very name.
    static func isOne(_ name: String, _ login: Login, _ remote: any Remote) async throws -> Bool {
        if !isPattern(name), !mayBeAlbum(name) { return true }
        let path = try EntryPath.album(name, login)
        if try path.key == login.photos.key { return false }
        do throws(RemoteError) {
            let found = try await remote.metadata(at: path)
            return found.isDeleted ? !isPattern(name) : !found.isFolder
        } catch {
            if error.code == .notFound { return !isPattern(name) }
            throw error
        }
    }

    /// The photos that some names stand for, in their order and each once; why not, for a name that stands for none.
    ///
    /// With `takesAlbums` an album stands for all photos in it and below it.
    static func photos(
        _ names: [String], _ login: Login, _ remote: any Remote, takesAlbums: Bool = false
    ) async throws -> [Result<FoundPhoto, Failure>] {
        let folder = try login.photos
        var listed: [String: FoundPhoto] = [:]
        if names.contains(where: isPattern) {
            let entries = try await FolderListing(isRecursive: true).entries(of: folder, remote, where: \.isPhoto) ?? []
            for entry in entries {
                let photo = FoundPhoto(entry, below: folder)
                listed[photo.place] = photo
            }
        }
        var (found, seen) = ([Result<FoundPhoto, Failure>](), Set<PathKey>())
        let keys = Set(listed.values.map(\.path.key))
        for name in names {
            if takesAlbums, mayBeAlbum(name), let album = try? EntryPath.album(name, login),
                let photos = try await visible(in: album, remote)
            {
                if photos.isEmpty { found.append(.failure(none(in: name))) }
                for photo in ListingOrder.name.sorted(photos, below: folder)
                where seen.insert(photo.path.key).inserted {
                    found.append(.success(FoundPhoto(photo, below: folder)))
                }
                continue
            }
            let isName = try? keys.contains(EntryPath.photo(name, login).key)
            if isPattern(name), isName != true {
                var fitting = listed.keys.filter { unsafe fnmatch(name, $0, FNM_PATHNAME | FNM_PERIOD) == 0 }
                if fitting.isEmpty, takesAlbums, let album = try? EntryPath.photo(name, login) {
                    fitting = listed.filter { $0.value.path.key.isBelow(album.key) }.map(\.key)
                }
                if fitting.isEmpty { found.append(.failure(EntryPath.missing("photo", name))) }
                for name in fitting.sorted(by: NaturalOrder.precedes) {
                    if let photo = listed[name], seen.insert(photo.path.key).inserted { found.append(.success(photo)) }
                }
            } else {
                do {
                    let path = try EntryPath.photo(name, login)
                    if seen.insert(path.key).inserted { found.append(.success(FoundPhoto(path: path))) }
                } catch {
                    found.append(.failure(Failure(error)))
                }
            }
        }
        return found
    }

    /// The photos in an album and below it, but for hidden ones; nil when there is no such album.
    private static func visible(in album: RemotePath, _ remote: any Remote) async throws -> [Metadata]? {
        try await FolderListing(isRecursive: true).entries(of: album, remote) { photo in
            photo.isPhoto && !photo.path.components.dropFirst(album.components.count).contains { $0.hasPrefix(".") }
        }
    }

    private static func none(in album: String) -> Failure {
        Failure(.noInput, "no photo in '\(Failure.line(album))'")
    }
}
