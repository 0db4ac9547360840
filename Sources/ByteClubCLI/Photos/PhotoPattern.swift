import ByteClubCore
import Glibc

/// A photo that matches a name or pattern.
struct FoundPhoto: Sendable {
    let path: RemotePath
    /// Its path below the listed folder, or its name if it was named directly.
    let place: String
    /// Its metadata, if it was listed.
    var known: Metadata?

    /// A photo that was named.
    init(path: RemotePath) {
        self.path = path
        place = path.name
    }

    /// A photo listed in a folder or below it.
    init(_ known: Metadata, below folder: RemotePath) {
        path = known.path
        place = known.path.name(below: folder)
        self.known = known
    }
}

/// A name with `*`, `?` or `[...]`, which matches photos as in the shell (glob(7)).
enum PhotoPattern {
    /// Whether a name is a pattern.
    static func isPattern(_ name: String) -> Bool { name.contains { "*?[".contains($0) } }

    /// Whether a name can be an album: not a pattern, and not a photo's suffix.
    static func mayBeAlbum(_ name: String) -> Bool {
        !isPattern(name) && (name.hasSuffix("/") || !MediaType(name: name).hasThumbnail)
    }

    /// Whether a name refers to one photo: neither a pattern nor an album, or exactly a photo's name.
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

    /// The photos that match some names, in their order and without duplicates; a failure for each name without a
    /// match.
    ///
    /// With `takesAlbums` an album matches all photos in it and below it.
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
                if photos.isEmpty {
                    found.append(.failure(Failure(.noInput, "no photo in '\(Failure.line(name))'")))
                }
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

    /// The photos in an album and below it, without hidden ones; nil when there is no such album.
    private static func visible(in album: RemotePath, _ remote: any Remote) async throws -> [Metadata]? {
        try await FolderListing(isRecursive: true).entries(of: album, remote) { photo in
            photo.isPhoto && !photo.path.components.dropFirst(album.components.count).contains { $0.hasPrefix(".") }
        }
    }
}

/// A local photo to upload, and its place in the folder that the user named.
struct ChosenPhoto: Hashable, Sendable {
    /// The file.
    let file: String
    /// The folders between the named one and the photo, which its copy on the server will have; none for a named file.
    var folders: [String] = []

    /// The photos to upload: named files, and all in a named folder and below it, sorted by name.
    ///
    /// A folder without photos is returned itself, so that the error names it. With `isFlat` no photo has folders.
    static func all(in named: [String], isFlat: Bool) -> [ChosenPhoto] {
        named.flatMap { name in
            guard LocalFile.isDirectory(name) else { return [ChosenPhoto(file: name)] }
            let photos = photos(below: name.hasSuffix("/") ? String(name.dropLast()) : name, folders: [])
            if photos.isEmpty { return [ChosenPhoto(file: name)] }
            return isFlat ? photos.map { ChosenPhoto(file: $0.file) } : photos
        }
    }

    private static func photos(below directory: String, folders: [String]) -> [ChosenPhoto] {
        let names = LocalFile.names(in: directory).filter { !$0.hasPrefix(".") }.sorted(by: NaturalOrder.precedes)
        return names.flatMap { name in
            let path = directory + "/" + name
            // A link may lead back to a folder above.
            if LocalFile.isDirectory(path) {
                return LocalFile.isLink(path) ? [] : photos(below: path, folders: folders + [name])
            }
            return PhotoFile.isNamed(name) ? [ChosenPhoto(file: path, folders: folders)] : []
        }
    }

    /// The target folder on the server; `base` is the target of photos without folders.
    ///
    /// - Throws: A ``Failure`` for an invalid folder name.
    func folder(in base: RemotePath) throws -> RemotePath {
        try folders.reduce(base) { folder, name in
            do throws(PathError) {
                if NameRules.isIgnored(name) { throw PathError("'\(name)' is a name that is never synced") }
                return try folder.appending(name)
            } catch {
                throw PhotoFile.refusal(of: file, error)
            }
        }
    }
}
