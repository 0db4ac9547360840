import ByteClubCore

/// A photo on this machine that is to be uploaded, and where it lies in the folder that a person named.
struct ChosenPhoto: Hashable, Sendable {
    /// The file.
    let file: String
    /// The folders in which it lies below the one that was named, and will on the server; none for a file that was
    /// named itself.
    var folders: [String] = []

    /// The photos that a person means: a file itself, and all in a folder and below it, in the order of their names.
    ///
    /// A folder without any stands for itself, so that it is refused by its name. With `isFlat` all lie in no folder.
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
            // A link to a folder may lead back to where one is.
            if LocalFile.isDirectory(path) {
                return LocalFile.isLink(path) ? [] : photos(below: path, folders: folders + [name])
            }
            return PhotoFile.isNamed(name) ? [ChosenPhoto(file: path, folders: folders)] : []
        }
    }

    /// The folder of the server that it goes to; `base` is that of photos that lie in no folder.
    ///
    /// - Throws: A ``Failure`` when the server takes no folder of such a name.
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
