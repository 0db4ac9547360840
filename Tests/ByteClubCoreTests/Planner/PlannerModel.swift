import ByteClubCore
import TestSupport

/// A mirror, a server and what was last seen equal, on which plans are carried out as if everything succeeded.
struct PlannerModel {
    enum Failure: Error, CustomStringConvertible {
        case stepDoesNotHold(Step, String)

        var description: String {
            switch self {
            case .stepDoesNotHold(let step, let why): "\(why): \(step)"
            }
        }
    }

    var local = Tree()
    var remote = Tree()
    var synced = Tree()
    var lastRevision: Int64 = 0

    var plan: Plan { Planner.plan(local: local, remote: remote, synced: synced) }

    mutating func nextRevision() -> Revision {
        lastRevision += 1
        return Revision(number: lastRevision)
    }

    /// Carries out a step, or throws and leaves all as it is.
    mutating func apply(_ step: Step) throws {
        let hold = { (holds: Bool, why: String) throws in
            if !holds { throw Failure.stepDoesNotHold(step, why) }
        }
        switch step {
        case .adopt(let mine, let theirs):
            try hold(local[step.key] == mine && remote[step.key] == theirs, "changed meanwhile")
            try hold(mine.hasSameContent(as: theirs), "not equal")
            synced[step.key] = theirs
        case .forget(let key):
            try hold(local[key] == nil && remote[key] == nil, "still there")
            synced[key] = nil
        case .createLocalFolder(let folder):
            try hold(local[step.key] == nil, "taken")
            try hold(localParentIsThere(folder.path), "no folder above in the mirror")
            var made = folder
            made.revision = nil
            local[step.key] = made
            synced[step.key] = remote[step.key]
        case .download(let file, let replacing):
            try hold(local[step.key] == replacing, "changed meanwhile")
            try hold(remote[step.key]?.revision == file.revision, "another version")
            try hold(localParentIsThere(replacing?.path ?? file.path), "no folder above in the mirror")
            var made = file
            made.path = replacing?.path ?? file.path
            made.revision = nil
            local[step.key] = made
            synced[step.key] = remote[step.key]
        case .createRemoteFolder(let folder):
            try hold(remote[step.key] == nil, "taken")
            try hold(remoteParentIsThere(step.key), "no folder above on the server")
            store(folder)
        case .upload(let file, let parent):
            try hold(local[step.key] == file, "changed meanwhile")
            try hold(remote[step.key] == parent, "another version")
            try hold(remoteParentIsThere(step.key), "no folder above on the server")
            store(file)
        case .deleteLocal(let entry):
            try hold(local[step.key] == entry, "changed meanwhile")
            try hold(!local.nodes.keys.contains { $0.isBelow(step.key) }, "not empty")
            local[step.key] = nil
            synced[step.key] = nil
        case .deleteRemote(let entry, let recursive):
            guard let there = remote[step.key] else { throw Failure.stepDoesNotHold(step, "gone") }
            let below = remote.nodes.keys.filter { $0.isBelow(step.key) }
            try hold(recursive || below.isEmpty, "not empty")
            if there.isFolder {
                let seen = entry.revision ?? Revision(number: 0)
                let newest = below.compactMap { remote[$0]?.revision }.max() ?? seen
                try hold(newest <= seen, "something in it is newer")
            } else {
                try hold(there.revision == entry.revision, "another version")
            }
            for key in below + [step.key] {
                remote[key] = nil
                synced[key] = nil
            }
        case .keepBoth(let mine, let theirs, let copy):
            try hold(local[step.key] == mine && remote[step.key] == theirs, "changed meanwhile")
            try rename(mine, to: copy)
        }
    }

    private mutating func rename(_ entry: Node, to copy: RemotePath) throws {
        var target = copy
        var number = 1
        while local[target.key] != nil || synced[target.key] != nil {
            number += 1
            target = try ConflictName.path(for: entry.path, loser: entry.hash, number: number)
        }
        for (key, node) in local.nodes where key == entry.path.key || key.isBelow(entry.path.key) {
            guard let path = node.path.rebased(from: entry.path, to: target) else { continue }
            local[key] = nil
            var moved = node
            moved.path = path
            local[path.key] = moved
        }
    }

    private mutating func store(_ node: Node) {
        var stored = node
        stored.revision = nextRevision()
        if let there = remote[node.path.key] { stored.path = there.path }
        remote[node.path.key] = stored
        synced[node.path.key] = stored
    }

    /// A disk tells letter cases apart.
    private func localParentIsThere(_ path: RemotePath) -> Bool {
        guard let parent = path.parent, !parent.isRoot else { return true }
        return local[parent.key].map { $0.isFolder && $0.path == parent } ?? false
    }

    private func remoteParentIsThere(_ key: PathKey) -> Bool {
        guard let parent = key.parent, parent != .root else { return true }
        return remote[parent]?.isFolder ?? false
    }

    /// Whether both sides hold the same and know it.
    var isConverged: Bool {
        guard local.nodes.count == remote.nodes.count, synced.nodes.count == remote.nodes.count else { return false }
        return local.nodes.allSatisfy { key, node in
            guard let theirs = remote[key], let base = synced[key] else { return false }
            return node.hasSameContent(as: theirs) && base.hasSameContent(as: theirs)
        }
    }

    /// All content that is in a tree.
    static func contents(_ tree: Tree) -> Set<ContentHash> { Set(tree.nodes.values.compactMap(\.hash)) }
}
