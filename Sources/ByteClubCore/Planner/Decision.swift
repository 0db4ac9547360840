/// What the planner decides for one key, and what that leaves on each side for the folder above.
struct Decision {
    var steps: [Step] = []
    /// Whether something will be at this key in the local tree.
    var leavesLocal: Bool
    /// Whether something will be at this key on the server.
    var leavesRemote: Bool
    /// Whether a file on one side and a folder on the other stand at this key.
    var isClash = false

    private init(_ steps: [Step], local: Bool, remote: Bool) {
        self.steps = steps
        leavesLocal = local
        leavesRemote = remote
    }

    /// Applies the tables for none, edit, create and delete to one key.
    ///
    /// `isNeededLocally` and `isNeededRemotely` say that something below the key will be there on that side.
    static func make(
        local: Node?, remote: Node?, synced: Node?, isNeededLocally: Bool, isNeededRemotely: Bool
    ) -> Decision {
        switch (local, remote) {
        case (nil, nil):
            return synced.map { Decision([.forget($0.path.key)], local: false, remote: false) }
                ?? Decision([], local: false, remote: false)
        case (let local?, let remote?):
            return both(local, remote, synced, isNeeded: isNeededLocally || isNeededRemotely)
        case (let local?, nil):
            return onlyLocal(local, synced, isNeeded: isNeededLocally || isNeededRemotely)
        case (nil, let remote?):
            return onlyRemote(remote, synced, isNeeded: isNeededLocally || isNeededRemotely)
        }
    }

    private static func both(_ local: Node, _ remote: Node, _ synced: Node?, isNeeded: Bool) -> Decision {
        if local.hasSameContent(as: remote) {
            let isKnown = synced.map { $0.hasSameContent(as: remote) && $0.revision == remote.revision } ?? false
            return Decision(isKnown ? [] : [.adopt(local: local, remote: remote)], local: true, remote: true)
        }
        let localIsOld = synced.map { $0.hasSameContent(as: local) } ?? false
        let remoteIsOld = isOld(remote, synced)
        let step: Step?
        switch (local.isFolder, remote.isFolder) {
        case (false, false) where localIsOld && remoteIsOld: step = nil
        case (false, false) where localIsOld: step = .download(remote: remote, replacing: local)
        case (false, false) where remoteIsOld: step = .upload(local: local, parent: remote)
        // A type changed on one side: the old entry makes room, and the next plan brings the new one.
        case (_, _) where localIsOld && !(local.isFolder && isNeeded): step = .deleteLocal(local: local)
        case (_, _) where remoteIsOld && !(remote.isFolder && isNeeded):
            step = .deleteRemote(remote: remote, recursive: remote.isFolder)
        default:
            let copy = try? ConflictName.path(for: local.path, loser: local.hash)
            step = copy.map { .keepBoth(local: local, remote: remote, copy: $0) }
        }
        var decision = Decision(step.map { [$0] } ?? [], local: true, remote: true)
        decision.isClash = local.isFolder != remote.isFolder
        return decision
    }

    /// Whether the server's entry is the one last synced; its version tells that even when its hash is unknown.
    private static func isOld(_ remote: Node, _ synced: Node?) -> Bool {
        guard let synced, synced.isFolder == remote.isFolder else { return false }
        return synced.hasSameContent(as: remote) || (synced.revision != nil && synced.revision == remote.revision)
    }

    private static func onlyLocal(_ local: Node, _ synced: Node?, isNeeded: Bool) -> Decision {
        let isUnchanged = synced.map { $0.hasSameContent(as: local) } ?? false
        if isUnchanged, !(local.isFolder && isNeeded) {
            return Decision([.deleteLocal(local: local)], local: false, remote: false)
        }
        let step: Step = local.isFolder ? .createRemoteFolder(local: local) : .upload(local: local, parent: nil)
        return Decision([step], local: true, remote: true)
    }

    private static func onlyRemote(_ remote: Node, _ synced: Node?, isNeeded: Bool) -> Decision {
        if isOld(remote, synced), !(remote.isFolder && isNeeded) {
            return Decision(
                [.deleteRemote(remote: remote, recursive: remote.isFolder)], local: false, remote: false)
        }
        let step: Step =
            remote.isFolder ? .createLocalFolder(remote: remote) : .download(remote: remote, replacing: nil)
        return Decision([step], local: true, remote: true)
    }
}
