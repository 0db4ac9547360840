import ByteClubCore

extension Explainer {
    /// Why an item must be scanned again, when the disk has changed since the last scan; nil otherwise.
    func unseen(_ item: Item) throws -> String? {
        guard !isAway, !item.isFrozen, let local = item.local, let stat = local.stat else { return nil }
        switch facts.onDisk(try store.path(of: local.location, on: .local)) {
        case .unknown: return nil
        case .nothing: return "scan it again: it is gone from the disk since the last scan"
        case .entry(let isFolder, let now):
            let isSame =
                isFolder == local.isFolder
                && (isFolder ? now.inode == stat.fingerprint.inode : now.isSameContent(as: stat.fingerprint))
            return isSame ? nil : "scan it again: it has changed on disk since the last scan"
        }
    }

    /// Whether the disk shows something at a path with which nothing is known to be wrong.
    func isUnseen(_ path: String) -> Bool {
        if isAway || problems.contains(where: { Self.isAtOrAbove($0.path, path) }) { return false }
        if case .entry = facts.onDisk(path) { return true }
        return false
    }

    /// The progress of a large file's transfer, or what it was when the sync ended; nil when there is none.
    func transferProgress(of item: Item) throws -> String? {
        guard case .underWay(let bytes) = waiting[item.id] else { return nil }
        let isUpload = try Planner.plan([item.id], in: store).operations.contains { $0.write?.action == .upload }
        let total = HumanSize.shown((isUpload ? item.local?.size : item.remote?.size) ?? 0)
        let part = bytes > 0 ? "\(HumanSize.shown(bytes)) of \(total)" : "less than 4 MiB of \(total)"
        return facts.isRunning
            ? "\(part) are transferred" : "\(part) were transferred when the last sync was stopped"
    }
}
