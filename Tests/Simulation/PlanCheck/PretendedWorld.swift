import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// Trees to which operations are done as if disk and server did them at once.
///
/// An operation that the trees do not allow is refused, as disk and server would.
struct PretendedWorld: Sendable {
    var trees = MemoryTrees()
    /// What the files hold that nobody has read.
    var unread: [ItemID: ContentHash] = [:]
    /// What the server's files hold, where it sends no hashes.
    var unreported: [ItemID: ContentHash] = [:]
    /// The contents in the local trash.
    var trash: UInt64 = 0
    /// The contents in the server's history.
    var history: UInt64 = 0
    /// Whether the server stores names in NFC.
    var composes = false
    /// How many conflict copies were made.
    var copies = 0

    /// Does an operation; false when it is refused.
    ///
    /// Without `closing`, the process ends before it notes that it is done.
    mutating func apply(_ operation: PlannedOperation, closing: Bool = true) -> Bool {
        guard let item = trees[operation.item] else { return false }
        switch operation {
        case .note(_, .adopt): return adopt(item)
        case .note(_, .forget): return forget(item)
        case .note(_, .resurrect): return resurrect(item)
        case .note(_, .linkIdentity(let remote)): return linkIdentity(item, remote)
        case .disk(_, .makeFolder(let location)): return makeFolder(item, location, closing)
        case .disk(_, .move(let location)): return moveLocal(item, location, closing)
        case .disk(_, .download(let location)): return download(item, location, closing)
        case .disk(_, .trash): return trash(item)
        case .disk(_, .resolveContent(let name)): return resolveContent(item, name, closing)
        case .server(_, .makeFolder): return create(item, isFolder: true, closing)
        case .server(_, .upload):
            return item.remote == nil ? create(item, isFolder: false, closing) : upload(item, closing)
        case .server(_, .move(let location)): return moveRemote(item, location, closing)
        case .server(_, .delete): return deleteRemote(item)
        }
    }

    /// Reads a file.
    mutating func read(_ id: ItemID) -> Bool {
        guard let hash = unread.removeValue(forKey: id) else { return false }
        trees.update(id) { $0.local?.hash = hash }
        return true
    }

    /// What the server has of a file, told or not.
    func serverHash(_ item: Item) -> ContentHash? { item.remote.flatMap { $0.hash ?? unreported[item.id] } }

    // MARK: Bookkeeping

    private mutating func adopt(_ item: Item) -> Bool {
        guard let local = item.local, let remote = item.remote, local.hash == serverHash(item),
            local.location.isSameKey(as: remote.location)
        else { return false }
        close(item.id)
        return true
    }

    private mutating func forget(_ item: Item) -> Bool {
        guard item.local == nil, item.remote == nil else { return false }
        trees.update(item.id) { $0.base = nil }
        return true
    }

    private mutating func resurrect(_ item: Item) -> Bool {
        guard item.synced != nil, (item.local == nil) != (item.remote == nil) else { return false }
        trees.update(item.id) { $0.base = nil }
        return true
    }

    private mutating func linkIdentity(_ item: Item, _ remote: ItemID) -> Bool {
        guard let other = trees[remote], item.remote == nil, item.synced == nil, other.local == nil,
            other.synced == nil, let local = item.local, let there = other.remote,
            local.isFolder == there.isFolder, local.location.isSameKey(as: there.location), local.hash == there.hash
        else { return false }
        for number in trees.numbers {
            let id = ItemID(number)
            guard let child = trees[id] else { continue }
            if child.local?.location.parent == item.id { trees.update(id) { $0.local?.location.parent = remote } }
            if child.synced?.location.parent == item.id { trees.update(id) { $0.base?.location.parent = remote } }
        }
        trees.update(remote) {
            $0.local = local
            $0.local?.isLeftover = false
        }
        trees[item.id] = nil
        return true
    }

    /// Notes what both sides show and agree on as synced.
    private mutating func close(_ id: ItemID) {
        let hash = trees[id].flatMap { serverHash($0) }
        trees.update(id) { item in
            guard let local = item.local, let remote = item.remote, local.hash == hash,
                local.location.isSameKey(as: remote.location)
            else { return }
            item.remote?.hash = hash
            item.base = SyncedState(
                location: local.location,
                remoteName: remote.location.name == local.location.name ? nil : remote.location.name,
                isFolder: local.isFolder, hash: local.hash, revision: remote.revision)
        }
    }

    /// Notes that both sides are at one place now.
    private mutating func closeLocation(_ id: ItemID) {
        trees.update(id) { item in
            guard let local = item.local, let remote = item.remote, local.location.isSameKey(as: remote.location) else {
                return
            }
            item.base?.location = local.location
            item.base?.remoteName = remote.location.name == local.location.name ? nil : remote.location.name
        }
    }

    /// Notes that both sides have one content now.
    private mutating func closeContent(_ id: ItemID) {
        let hash = trees[id].flatMap { serverHash($0) }
        trees.update(id) { item in
            guard let local = item.local, let remote = item.remote, local.hash == hash else { return }
            item.remote?.hash = hash
            item.base?.hash = local.hash
            item.base?.revision = remote.revision
        }
    }

    // MARK: On the disk

    private func isFree(_ location: Location, for id: ItemID, on side: Side) -> Bool {
        if location.parent != .root {
            guard let folder = trees[location.parent], folder.isFolder, folder.location(on: side) != nil else {
                return false
            }
        }
        return trees.children(of: location.parent, key: location.name.key, on: side).allSatisfy { $0.id == id }
    }

    private mutating func makeFolder(_ item: Item, _ location: Location, _ closing: Bool) -> Bool {
        guard item.local == nil, item.remote?.isFolder == true, isFree(location, for: item.id, on: .local) else {
            return false
        }
        trees.update(item.id) { $0.local = LocalState(location: location, isFolder: true) }
        if closing { close(item.id) }
        return true
    }

    private mutating func moveLocal(_ item: Item, _ location: Location, _ closing: Bool) -> Bool {
        guard item.local != nil, isFree(location, for: item.id, on: .local),
            !trees.isBelow(location.parent, orSameAs: item.id, on: .local)
        else { return false }
        trees.update(item.id) { $0.local?.location = location }
        if closing, item.remote?.location == location { closeLocation(item.id) }
        return true
    }

    private mutating func download(_ item: Item, _ location: Location, _ closing: Bool) -> Bool {
        guard item.remote?.isFolder == false else { return false }
        let content = serverHash(item)
        if let local = item.local {
            guard local.location == location, let hash = local.hash,
                item.synced?.hash == hash || isElsewhere(hash, item.id)
            else { return false }
            trash |= Content(hash)?.bit ?? 0
            trees.update(item.id) { $0.local?.hash = content }
            if closing { closeContent(item.id) }
        } else {
            guard isFree(location, for: item.id, on: .local) else { return false }
            trees.update(item.id) { $0.local = LocalState(location: location, isFolder: false, hash: content) }
            if closing { close(item.id) }
        }
        return true
    }

    /// Whether another file has a content, too.
    private func isElsewhere(_ hash: ContentHash, _ id: ItemID) -> Bool {
        trees.items.contains { $0.id != id && ($0.local?.hash == hash || $0.remote?.hash == hash) }
    }

    private mutating func trash(_ item: Item) -> Bool {
        guard let local = item.local, item.remote == nil, item.synced != nil else { return false }
        let children = trees.children(of: item.id, on: .local)
        guard children.allSatisfy({ $0.isExcluded || $0.isLeftover }) else { return false }
        if children.isEmpty {
            guard local.isFolder || local.hash != nil else { return false }
            trash |= Content(local.hash)?.bit ?? 0
            trees[item.id] = nil
        } else {
            trees.update(item.id) {
                $0.base = nil
                $0.local?.isLeftover = true
            }
        }
        return true
    }

    private mutating func resolveContent(_ item: Item, _ name: EntryName, _ closing: Bool) -> Bool {
        guard let local = item.local, let remote = item.remote, let hash = local.hash else { return false }
        if remote.hash == nil, let reported = unreported[item.id] {
            // Now it is known, and the next plan decides.
            trees.update(item.id) { $0.remote?.hash = reported }
            return true
        }
        guard hash != remote.hash,
            isFree(Location(local.location.parent, name), for: item.id, on: .local)
        else { return false }
        let copy = trees.newItem()
        copies += 1
        trees[copy] = Item(
            copy, local: LocalState(location: Location(local.location.parent, name), isFolder: false, hash: hash))
        trees.update(item.id) { $0.local?.hash = remote.hash }
        if closing { closeContent(item.id) }
        return true
    }

    // MARK: On the server

    private func stored(_ location: Location) -> Location {
        composes
            ? Location(location.parent, EntryName(Self.composed(location.name.text), key: location.name.key)) : location
    }

    /// The few names that the checks have, in NFC.
    static func composed(_ name: String) -> String { name == "e\u{301}" ? "\u{e9}" : name }

    private mutating func create(_ item: Item, isFolder: Bool, _ closing: Bool) -> Bool {
        guard let local = item.local, local.isFolder == isFolder, item.remote == nil, item.synced == nil,
            isFree(local.location, for: item.id, on: .remote)
        else { return false }
        if !isFolder, local.hash == nil { _ = read(item.id) }
        let location = stored(local.location)
        trees.update(item.id) {
            $0.local?.isLeftover = false
            $0.remote = RemoteState(location: location, isFolder: isFolder, hash: $0.local?.hash, revision: .number(1))
        }
        if closing { close(item.id) }
        return true
    }

    private mutating func upload(_ item: Item, _ closing: Bool) -> Bool {
        guard let local = item.local, item.remote != nil, let hash = local.hash, !local.isFolder,
            serverHash(item) == item.synced?.hash
        else { return false }
        history |= Content(serverHash(item))?.bit ?? 0
        trees.update(item.id) {
            $0.remote?.hash = hash
            $0.remote?.revision?.advance()
        }
        if closing { closeContent(item.id) }
        return true
    }

    private mutating func moveRemote(_ item: Item, _ location: Location, _ closing: Bool) -> Bool {
        guard item.remote != nil, !item.isPlacedRemotely, isFree(location, for: item.id, on: .remote),
            !trees.isBelow(location.parent, orSameAs: item.id, on: .remote)
        else { return false }
        let there = stored(location)
        trees.update(item.id) { $0.remote?.location = there }
        if closing, item.local?.location == location { closeLocation(item.id) }
        return true
    }

    private mutating func deleteRemote(_ item: Item) -> Bool {
        guard item.remote != nil else { return false }
        var doomed = [item]
        var next = 0
        while next < doomed.count {
            let one = doomed[next]
            next += 1
            guard one.local == nil, let synced = one.synced, serverHash(one) == synced.hash, !one.isExcluded else {
                return false
            }
            if one.isFolder { doomed += trees.children(of: one.id, on: .remote) }
        }
        for one in doomed {
            history |= Content(serverHash(one))?.bit ?? 0
            trees[one.id] = nil
        }
        return true
    }
}
