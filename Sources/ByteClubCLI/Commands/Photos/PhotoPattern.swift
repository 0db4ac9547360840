import ByteClubCore
import Glibc

/// A photo that a name or a pattern stands for.
struct FoundPhoto: Sendable {
    let path: RemotePath
    /// Its size in bytes, where the photos were listed.
    var bytes: Int64?
}

/// A name with `*`, `?` or `[...]` in it, which stands for all the photos that it fits, as in the shell (glob(7)).
enum PhotoPattern {
    /// Whether a name is a pattern.
    static func isPattern(_ name: String) -> Bool { name.contains { "*?[".contains($0) } }

    /// Whether a name means one photo: since it is no pattern, or is a photo's very name.
    static func isOne(_ name: String, _ login: Login, _ remote: any Remote) async throws -> Bool {
        if !isPattern(name) { return true }
        let path = try EntryPath.photo(name, login)
        do throws(RemoteError) {
            let found = try await remote.metadata(at: path)
            return !found.isFolder && !found.isDeleted
        } catch {
            if error.code == .notFound { return false }
            throw error
        }
    }

    /// The photos that some names stand for, in their order and each once; why not, for a name that stands for none.
    static func photos(
        _ names: [String], _ login: Login, _ remote: any Remote
    ) async throws -> [Result<FoundPhoto, Failure>] {
        let folder = try login.photos
        var listed: [String: FoundPhoto] = [:]
        if names.contains(where: isPattern) {
            let entries = try await FolderListing(isRecursive: true).entries(of: folder, remote, where: \.isPhoto) ?? []
            for entry in entries {
                listed[entry.path.name(below: folder)] = FoundPhoto(path: entry.path, bytes: entry.bytes)
            }
        }
        var (found, seen) = ([Result<FoundPhoto, Failure>](), Set<PathKey>())
        let keys = Set(listed.values.map(\.path.key))
        for name in names {
            let isName = try? keys.contains(EntryPath.photo(name, login).key)
            if isPattern(name), isName != true {
                let fitting = listed.keys.filter { unsafe fnmatch(name, $0, FNM_PATHNAME | FNM_PERIOD) == 0 }
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
}
