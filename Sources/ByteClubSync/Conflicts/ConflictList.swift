public import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc

/// The conflicts of a mirror: those that arose here, and those of other machines whose copies were downloaded.
///
/// A user settles one by deleting or renaming its copy.
struct ConflictList {
    let store: SQLiteTreeStore
    /// The mirror's folder.
    let directory: String

    /// The conflicts, the newest first; with `all`, the settled ones too.
    ///
    /// Everything that counts or names conflicts reads this list.
    func conflicts(all: Bool) throws -> [SyncStatus.Conflict] {
        (try recorded(all: all) + elsewhere()).sorted { ($1.at, $0.copy) < ($0.at, $1.copy) }
    }

    /// Those that arose on this machine.
    private func recorded(all: Bool) throws -> [SyncStatus.Conflict] {
        // Without the mirror, the state of its files is unknown.
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
        guard let item = try store.items(at: path).first, item.local != nil else { return nil }
        let holder = try store.shownPath(of: item.id)
        return modified(holder) == nil ? nil : holder
    }

    /// Those whose copies other machines, or commands without a mirror, have made; by their names.
    private func elsewhere() throws -> [SyncStatus.Conflict] {
        let known = Set(try store.conflicts(all: true).map(\.copy))
        return try store.conflictCopies().compactMap { item in
            guard let location = item.local?.location,
                let original = ConflictName.original(of: location.name.text).map({ EntryName($0) })
            else { return nil }
            let holders = try store.children(of: location.parent, key: original.key, on: .local)
                .compactMap { $0.local?.location.name }
            if holders.isEmpty { return nil }
            let copy = try store.path(of: location, on: .local)
            guard !known.contains(copy), let at = modified(copy) else { return nil }
            let folder = LocalPath.split(copy).parent
            let holder = holders.contains(original) ? nil : holders.first
            return SyncStatus.Conflict(
                path: LocalPath.join(folder, original.text), copy: copy, at: at, isElsewhere: true,
                holder: holder.map { LocalPath.join(folder, $0.text) })
        }
    }

    /// When a file of the mirror was changed, in seconds since 1970; nil when it is not there.
    private func modified(_ path: String) -> Int64? {
        FileStatus(LocalPath.join(directory, path), followsLinks: false)?.modified
    }
}

extension SyncEngine {
    /// The conflicts, the newest first, also those that arose on other machines; with `all`, the resolved ones too.
    ///
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be read.
    public static func conflicts(
        of configuration: SyncConfiguration, all: Bool
    ) throws(SyncError) -> [SyncStatus.Conflict] {
        try configuration.read {
            try ConflictList(store: $0, directory: configuration.directory).conflicts(all: all)
        } ?? []
    }

    /// Resolves a conflict by changing files in the mirror; the next sync, or the running one, uploads the result.
    public static func resolve(
        _ conflict: SyncStatus.Conflict, keeping side: ConflictSide, of configuration: SyncConfiguration
    ) throws(SyncError) {
        if side != .both {
            try SyncError.wrapped {
                try ConflictResolution(LinuxDisk(configuration.directory)).settle(conflict, keeping: side)
            }
        }
        _ = try configuration.change { store in
            // If it arose elsewhere, that it is settled is known here from now on.
            var settled =
                try store.conflicts(all: true).first { $0.copy == conflict.copy }
                ?? ConflictRecord(path: conflict.path, copy: conflict.copy, winner: nil, loser: nil, at: conflict.at)
            settled.isResolved = true
            try store.save(settled)
        }
    }
}
