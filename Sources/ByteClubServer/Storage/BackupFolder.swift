import ByteClubCore
import ByteClubFiles
import Glibc

/// A folder of backups that are named by when they began, as `2026-11-25T013000Z`, of which the newest are kept.
///
/// A backup has its name once it is whole, checked and on disk, and loses it before anything of it is removed: what a
/// crash leaves at any moment has another name, by which the next backup finds it.
struct BackupFolder {
    private static let leftover = ".part"

    /// The path of the folder.
    let path: String

    /// Adds a backup, which shares unchanged files with the one before, and removes the oldest.
    ///
    /// When it fails, all earlier ones stay.
    ///
    /// - Parameters:
    ///   - data: The club to back up, while a server runs or not.
    ///   - count: How many backups stay, this one among them; at least 1.
    ///   - now: When it begins.
    /// - Returns: The new backup and the removed ones.
    /// - Throws: ``StorageError`` `missing` when there is nothing to back up, `exists` when the folder is itself one
    ///   club's data, `inUse` when another backup is being added to it, `damaged` when the copy is.
    func add(_ data: DataDirectory, keeping count: Int, now: APIDate) async throws -> BackupSummary {
        guard data.holdsClub else { throw StorageError(.missing, "no club in '\(data.path)'") }
        guard !DataDirectory(path: path).holdsClub else {
            throw StorageError(.exists, "'\(path)' contains a club's data; give a folder for dated backups")
        }
        if Directory.holds(path, below: data.path) {
            throw StorageError(.exists, "'\(path)' is inside the club's data; choose a directory outside it")
        }
        try Directory.make(path)
        let lock = try Descriptor(path: path + "/backup.lock", flags: O_RDWR | O_CREAT)
        guard try lock.lock() else { throw StorageError(.inUse, "another backup is running in '\(path)'") }
        defer { withExtendedLifetime(lock) {} }
        let names = try Directory.names(in: path)
        for name in names where Self.isLeftover(name) { Directory.remove(path + "/" + name) }
        let earlier = names.filter(isBackup).sorted()
        let name = Self.name(now.seconds, besides: Set(names))
        let copy = try await make(name, of: data, after: earlier.last.map { path + "/" + $0 })
        let removed = try earlier.dropLast(max(0, count - 1)).filter(remove)
        return BackupSummary(path: path + "/" + name, copy: copy, removed: removed.map { path + "/" + $0 })
    }

    private func make(_ name: String, of data: DataDirectory, after earlier: String?) async throws -> CopySummary {
        let draft = path + "/" + name + Self.leftover
        do {
            let copy = try data.copy(to: draft, sharing: earlier.map { .backup($0) } ?? .original)
            let damage = try await DataDirectory(path: draft).verify(.copy(after: earlier)).findings.filter(\.isDamage)
            if let first = damage.first {
                throw StorageError(
                    .damaged,
                    "did not back up '\(data.path)', which is damaged (run verify): \(first.subject): "
                        + "\(first.problem)" + (damage.count > 1 ? ", and \(damage.count - 1) more" : ""))
            }
            try rename(draft, to: path + "/" + name)
            return copy
        } catch {
            Directory.remove(draft)
            throw error
        }
    }

    /// Removes a backup; false while a restore or a verification reads it.
    private func remove(_ name: String) throws -> Bool {
        let entry = path + "/" + name
        guard let contents = try DataDirectory(path: entry).lockContents() else { return false }
        defer { withExtendedLifetime(contents) {} }
        try rename(entry, to: entry + Self.leftover)
        Directory.remove(entry + Self.leftover)
        return true
    }

    private func rename(_ entry: String, to target: String) throws {
        var number = Directory.moveNew(entry, to: target)
        // NFS and FUSE support only the plain rename; under the folder's lock no other backup takes the name meanwhile.
        if number == EINVAL || number == ENOSYS { number = unsafe Glibc.rename(entry, target) == 0 ? 0 : errno }
        guard number == 0 else { throw StorageError(errno: number, "cannot rename '\(entry)' to '\(target)'") }
        try Directory.sync(path)
    }

    /// Whether an entry is a backup that was made here, and that no server has used since.
    private func isBackup(_ name: String) -> Bool {
        guard name.wholeMatch(of: /\d{4}-\d\d-\d\dT\d{6}Z/) != nil else { return false }
        let entry = DataDirectory(path: path + "/" + name)
        return Directory.isFolder(entry.path) && entry.holdsClub && !entry.wasServed
    }

    private static func isLeftover(_ name: String) -> Bool {
        name.wholeMatch(of: /\d{4}-\d\d-\d\dT\d{6}Z\.part(\.part-[0-9a-f]+)?/) != nil
    }

    /// The name of a backup that begins at a moment: one that is later than those made in the minutes before, also when
    /// they were many a second, or the clock was set back a little.
    private static func name(_ seconds: Int64, besides names: Set<String>) -> String {
        let name = { SystemTime.text(of: seconds + $0, "%Y-%m-%dT%H%M%SZ") }
        let last = (0...600).last { names.contains(name($0)) }
        return name(last.map { $0 + 1 } ?? 0)
    }
}

/// The result of adding a backup.
struct BackupSummary: Sendable {
    /// The path of the backup.
    let path: String
    /// Its contents.
    let copy: CopySummary
    /// The paths of the backups that were removed for it.
    let removed: [String]
}
