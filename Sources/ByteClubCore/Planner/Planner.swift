/// Decides what to do from three observed trees; pure and deterministic.
///
/// The trees may be cut down to the keys where something differs, as long as they hold the same keys: for each key all
/// three observations, and for each key its ancestors and, when a folder is gone on one side, all below it.
public enum Planner {
    /// Plans the steps that bring local and remote together, with `synced` as the state last seen equal.
    public static func plan(local: Tree, remote: Tree, synced: Tree) -> Plan {
        let keys = Set(local.nodes.keys).union(remote.nodes.keys).union(synced.nodes.keys).sorted()
        var decisions: [PathKey: Decision] = [:]
        decisions.reserveCapacity(keys.count)
        var neededLocally: Set<PathKey> = []
        var neededRemotely: Set<PathKey> = []
        // Children first, so that a folder knows whether anything below it must stay.
        for key in keys.reversed() {
            let decision = Decision.make(
                local: local[key], remote: remote[key], synced: synced[key],
                isNeededLocally: neededLocally.contains(key), isNeededRemotely: neededRemotely.contains(key))
            decisions[key] = decision
            guard let parent = key.parent else { continue }
            if decision.leavesLocal { neededLocally.insert(parent) }
            if decision.leavesRemote { neededRemotely.insert(parent) }
        }
        return assemble(keys, decisions, local, synced)
    }

    private static func assemble(
        _ keys: [PathKey], _ decisions: [PathKey: Decision], _ local: Tree, _ synced: Tree
    ) -> Plan {
        var plan = Plan()
        var places = LocalPlaces(local)
        var clash: PathKey?
        for key in keys {
            if let clash, key.isBelow(clash) {
                // A file and a folder stand at the place above: only what makes room may go on.
                plan.deletions += (decisions[key]?.steps ?? []).filter(\.isDeletion)
                continue
            }
            if decisions[key]?.isClash == true { clash = key }
            for step in decisions[key]?.steps ?? [] {
                switch step {
                case .adopt, .forget: plan.adoptions.append(step)
                case .keepBoth(let mine, let theirs, let copy):
                    let free = freeCopy(copy, of: mine, local, synced)
                    plan.conflicts.append(.keepBoth(local: mine, remote: theirs, copy: free))
                case .createLocalFolder(let remote):
                    plan.folders.append(.createLocalFolder(remote: places.place(remote)))
                case .download(let remote, let replacing):
                    plan.transfers.append(.download(remote: places.place(remote), replacing: replacing))
                case .createRemoteFolder: plan.folders.append(step)
                case .upload: plan.transfers.append(step)
                case .deleteLocal, .deleteRemote: plan.deletions.append(step)
                }
            }
        }
        plan.deletions = collapse(plan.deletions)
        return plan
    }

    /// A copy's name at which nothing is remembered as synced: there the copy would pass for what others may replace.
    private static func freeCopy(_ copy: RemotePath, of loser: Node, _ local: Tree, _ synced: Tree) -> RemotePath {
        var copy = copy
        var number = 1
        while local[copy.key] == nil, synced[copy.key] != nil {
            number += 1
            guard let next = try? ConflictName.path(for: loser.path, loser: loser.hash, number: number) else { break }
            copy = next
        }
        return copy
    }

    /// Replaces the deletions below a folder that is deleted on the server by that one deletion, and puts children first.
    ///
    /// The one deletion carries the newest version among those it stands for.
    private static func collapse(_ deletions: [Step]) -> [Step] {
        var kept: [Step] = []
        var covering: (index: Int, folder: Node)?
        for step in deletions {
            guard case .deleteRemote(let remote, let recursive) = step else {
                kept.append(step)
                continue
            }
            if let (index, folder) = covering, remote.path.key.isBelow(folder.path.key) {
                guard let newer = remote.revision, folder.revision.map({ $0 < newer }) ?? true else { continue }
                var folder = folder
                folder.revision = newer
                covering = (index, folder)
                kept[index] = .deleteRemote(remote: folder, recursive: true)
                continue
            }
            if recursive { covering = (kept.count, remote) }
            kept.append(step)
        }
        return kept.reversed()
    }
}
