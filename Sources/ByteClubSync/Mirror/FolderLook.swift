import ByteClubCore
import CLinux
import Glibc

/// Compares what a folder holds on disk with what it held at the last look; pure but for its growing lists.
struct FolderLook {
    let path: String
    let key: PathKey
    /// Entries that need a closer look, those under a known name first.
    private(set) var changed: [DirectoryListing.Entry] = []
    /// Folders that are where they were.
    private(set) var unchangedFolders: [(path: String, key: PathKey)] = []
    /// What is wrong in this folder.
    private(set) var problems: [Problem] = []
    private let index: [IndexedEntry]
    private var isSeen: [Bool]
    private var claimed: Set<String> = []
    private var places: [String: Int] = [:]

    init(path: String, key: PathKey, index: [IndexedEntry]) {
        self.path = path
        self.key = key
        self.index = index
        isSeen = Array(repeating: false, count: index.count)
    }

    /// The folded names of entries that are gone for certain.
    var vanished: [String] {
        zip(index, isSeen).compactMap { known, isSeen in
            isSeen || claimed.contains(known.name) ? nil : known.name
        }
    }

    /// Sorts the entries into unchanged, changed and impossible ones.
    mutating func compare(_ listing: DirectoryListing, device: Int64) {
        places.reserveCapacity(index.count)
        for (place, known) in index.enumerated() { places[known.localName] = place }
        var strangers: [DirectoryListing.Entry] = []
        for entry in listing.entries {
            let isFolder = entry.mode == S_IFDIR
            guard isFolder || entry.mode == S_IFREG, !isFolder || entry.fingerprint.device == device else {
                let isPrivate = path.isEmpty && entry.name == MirrorDirectory.privateName
                if !isPrivate { freeze(entry.name, Self.reason(entry)) }
                continue
            }
            guard let place = places[entry.name] else {
                strangers.append(entry)
                continue
            }
            isSeen[place] = true
            let known = index[place]
            claimed.insert(known.name)
            if isFolder, known.isFolder {
                unchangedFolders.append((LocalPath.join(path, entry.name), key.child(folded: known.name)))
            } else if isFolder != known.isFolder || known.isRacy || entry.fingerprint != known.fingerprint {
                changed.append(entry)
            }
        }
        for (name, error) in listing.unreadable { freeze(name, error.description) }
        for name in listing.undecodable {
            problems.append(
                Problem(
                    path: LocalPath.join(path, name), key: nil,
                    message: "the name is not valid UTF-8; rename the file to have it synced", source: .scan))
        }
        changed += strangers.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The folded name under which a changed entry goes, unless it may not be on the server or its place is taken.
    mutating func claim(_ entry: DirectoryListing.Entry, remoteRootLength: Int) -> String? {
        let folded: String
        do throws(PathError) {
            folded = try RemotePath.root.appending(entry.name).key.name
            if remoteRootLength + key.string.utf8.count + entry.name.utf8.count + 2 > NameRules.maximumPathBytes {
                throw PathError("the path is longer than \(NameRules.maximumPathBytes) bytes")
            }
        } catch {
            problems.append(
                Problem(
                    path: LocalPath.join(path, entry.name), key: nil,
                    message: "\(error.message); rename it to have it synced", source: .scan))
            return nil
        }
        if places[entry.name] != nil { return folded }
        guard claimed.insert(folded).inserted else {
            problems.append(
                Problem(
                    path: LocalPath.join(path, entry.name), key: nil,
                    message: "another entry here has the same name but for letter case or accents; rename one of them",
                    source: .scan))
            return nil
        }
        return folded
    }

    /// Leaves an entry and all below it alone; what is known of it stays known.
    private mutating func freeze(_ name: String, _ reason: String) {
        let folded = (try? RemotePath.root.appending(name))?.key.name ?? PathKey.fold(name)
        claimed.insert(folded)
        problems.append(
            Problem(
                path: LocalPath.join(path, name), key: key.child(folded: folded), message: reason, source: .scan))
    }

    private static func reason(_ entry: DirectoryListing.Entry) -> String {
        switch entry.mode {
        case S_IFLNK: "a symbolic link is never followed and never synced"
        case S_IFDIR: "the folder is on another disk than the mirror"
        case S_IFIFO: "a pipe cannot be synced"
        case S_IFSOCK: "a socket cannot be synced"
        default: "a device cannot be synced"
        }
    }
}
