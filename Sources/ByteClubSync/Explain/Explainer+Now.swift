import ByteClubCore

extension Explainer {
    /// What is to be looked at again, as the disk shows another entry now than when it was looked at last; nil otherwise.
    func unseen(_ item: Item) throws -> String? {
        guard !isAway, !item.isFrozen, let local = item.local, let look = local.look else { return nil }
        switch facts.onDisk(try paths.path(of: local.place, on: .local)) {
        case .unknown: return nil
        case .nothing: return "look at it again: it is gone from the disk since the last look"
        case .entry(let isFolder, let now):
            let isSame =
                isFolder == local.isFolder
                && (isFolder ? now.inode == look.fingerprint.inode : now.isSameContent(as: look.fingerprint))
            return isSame ? nil : "look at it again: it has changed on disk since the last look"
        }
    }

    /// Whether the disk shows something at a path with which nothing is known to be wrong.
    func isUnseen(_ path: String) -> Bool {
        if isAway || problems.contains(where: { Self.isAtOrAbove($0.path, path) }) { return false }
        if case .entry = facts.onDisk(path) { return true }
        return false
    }

    /// How far a large file is on its way, or was when the sync ended; nil when it does not travel.
    func travel(of item: Item) throws -> String? {
        guard case .underWay(let bytes) = waiting[item.id] else { return nil }
        let isUpload = try Planner.plan([item.id], in: store).operations.contains { operation in
            if case .upload = operation { true } else { false }
        }
        let total = HumanSize.text((isUpload ? item.local?.size : item.remote?.size) ?? 0)
        let part = bytes > 0 ? "\(HumanSize.text(bytes)) of \(total)" : "less than 4 MB of \(total)"
        return facts.isRunning
            ? "\(part) have travelled" : "\(part) had travelled when the last sync was stopped"
    }
}
