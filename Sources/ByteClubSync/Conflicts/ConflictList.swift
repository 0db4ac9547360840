import ByteClubCore
import CLinux
import Glibc

/// The conflicts of a mirror: those that arose here, and those of which other machines' copies have come.
///
/// One is settled by hand when its copy is gone or has another name.
struct ConflictList {
    let store: SQLiteTreeStore
    /// The mirror's folder.
    let directory: String

    /// Those that arose on this machine, the newest first; with `all`, the settled ones too.
    func recorded(all: Bool) throws -> [SyncStatus.Conflict] {
        // Without the mirror nothing can be told of its files.
        let isThere = modified(MirrorDirectory.privateName) != nil
        return try store.conflicts(all: all).map(SyncStatus.Conflict.init).compactMap { conflict in
            var conflict = conflict
            if isThere, modified(conflict.copy) == nil {
                conflict.isResolved = true
                return all ? conflict : nil
            }
            conflict.holder = try holder(of: conflict.path)
            return conflict
        }
    }

    /// The path of the entry that has a name in another spelling; nil when one has it as it is, or none.
    private func holder(of path: String) throws -> String? {
        if modified(path) != nil { return nil }
        let paths = TreePaths(view: store)
        guard let item = try paths.items(at: path).first, item.local != nil else { return nil }
        let holder = try paths.path(of: item)
        return modified(holder) == nil ? nil : holder
    }

    /// The same with the copies that other machines, or commands without a mirror, have made; by their names.
    func complete(all: Bool) throws -> [SyncStatus.Conflict] {
        let known = Set(try store.conflicts(all: true).map(\.copy))
        var found = try recorded(all: all)
        var rest = [(folder: ItemID.root, path: "")]
        while let (folder, path) = rest.popLast() {
            let items = try store.children(of: folder, on: .local)
            let names = Dictionary(
                items.compactMap { $0.local?.location.name }.map { ($0.key, [$0]) }, uniquingKeysWith: +)
            for item in items {
                guard let local = item.local else { continue }
                let name = local.location.name.text
                let place = LocalPath.join(path, name)
                if local.isFolder { rest.append((item.id, place)) }
                guard !known.contains(place), let original = ConflictName.original(of: name).map(EntryName.init),
                    let holders = names[original.key], let at = modified(place)
                else { continue }
                let holder = holders.contains(original) ? nil : holders.first
                found.append(
                    SyncStatus.Conflict(
                        path: LocalPath.join(path, original.text), copy: place, at: at, isElsewhere: true,
                        holder: holder.map { LocalPath.join(path, $0.text) }))
            }
        }
        return found.sorted { ($1.at, $0.copy) < ($0.at, $1.copy) }
    }

    /// When a file of the mirror was changed, in seconds since 1970; nil when it is not there.
    private func modified(_ path: String) -> Int64? {
        var status = stat()
        guard unsafe lstat(LocalPath.join(directory, path), &status) == 0 else { return nil }
        return Int64(status.st_mtim.tv_sec)
    }
}
