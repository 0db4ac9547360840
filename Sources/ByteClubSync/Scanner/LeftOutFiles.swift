import ByteClubCore

/// Files that are in deselected folders on this disk: they are never uploaded, so status has to report them.
///
/// Deselecting a folder removes its files from the disk; later files were made here. No scan reads the folder. Synced
/// files that were moved there have problems of their own.
struct LeftOutFiles {
    /// The most entries that are looked at in one folder.
    private static let maximumEntries = 100_000

    let scanner: Scanner
    /// Synced entries that are where they are not synced.
    let moves: UnsyncedMoves
    private var store: any TreeStore { scanner.store }

    /// A problem for each deselected folder with files in it: at the path of the first, with how many there are.
    func problems() throws -> [ProblemRecord] {
        // Those that are to go are no news.
        if try scanner.rules.deselected.isEmpty || store.meta(.pendingDeselection) != nil { return [] }
        var found: [ProblemRecord] = []
        for key in scanner.rules.deselected.sorted(by: { $0.string < $1.string }) {
            for folder in try folders(at: key) {
                // What cannot be read is not known to hold anything.
                guard let files = try? files(in: folder), let first = files.first else { continue }
                let more =
                    files.count == 1
                    ? "" : files.count == 2 ? ", nor is another file" : ", nor are \(files.count - 1) others"
                found.append(
                    ProblemRecord(
                        path: first, item: nil,
                        message: "it is not synced\(more): the folder '\(folder)' is not selected for this machine",
                        isFromScan: true))
            }
        }
        return found
    }

    /// The paths on disk of the folders that have a key.
    private func folders(at key: PathKey) throws -> [String] {
        let (parent, name) = LocalPath.split(key.string)
        return try store.items(at: String(parent.dropFirst())).flatMap { item -> [String] in
            guard let path = try store.localPath(of: item.id),
                let folder = try? scanner.root.folder(below: path), let entries = try? folder.list()
            else { return [] }
            return entries.filter { $0.kind == .folder && $0.isDecodable && PathKey.fold($0.name) == name }
                .map { LocalPath.join(path, $0.name) }
        }
    }

    /// The files in a folder that would be synced if it were selected, in the order of their paths.
    private func files(in path: String) throws -> [String] {
        var files: [String] = []
        var left = [path]
        var count = 0
        while let path = left.popLast(), count < Self.maximumEntries {
            for entry in try scanner.root.folder(below: path).list() where entry.isDecodable {
                count += 1
                let place = LocalPath.join(path, entry.name)
                let key = PathKey(folded: "/" + PathKey.fold(place))
                if scanner.rules.ignored.excludes(key, isFolder: entry.kind == .folder) { continue }
                if entry.kind == .folder { left.append(place) }
                if entry.kind == .file, !moves.has(place) { files.append(place) }
            }
        }
        return files.sorted()
    }
}
