import ByteClubCore

@testable import ByteClubSync

/// What both sides must show in the end by the decision tables, found without the planner.
///
/// Each item gets the cell of what happened to it. Then folders stay for what stays in them, a move that would make a
/// circle is undone, and of two entries for one name the server's keeps it.
struct ExpectedTrees {
    /// An item as it must be in the end.
    struct Entry {
        var location: Location
        var hash: ContentHash?
        /// Whether that is the server's place for it already.
        var isCommitted: Bool
        /// Of what it became a copy: the numbers of two copies of one minute may be either's.
        var original: EntryName?
    }

    /// A conflict copy.
    private struct Copy {
        /// Where it may be: beside the file in the end, or where that was on disk, which may have to wait.
        var locations: [Location]
        var hash: ContentHash
    }

    private enum Step {
        case changed, done, open
    }

    /// Whether it matters which side is which.
    private(set) var hasTie = false

    /// By the items' numbers, as are the items.
    private var entries: [Entry?] = []
    private var items: [Item?] = [nil]
    private var disputes: [(item: Int, hash: ContentHash)] = []
    private var copies: [Copy] = []
    /// The files whose content the server does not tell, so that nobody sees that they are like another.
    private var unreported: Set<Int> = []
    private var trash: UInt64
    private var history: UInt64

    /// What must come of these trees; nil when the tables leave it open.
    init?(_ world: PretendedWorld) {
        trash = world.trash
        history = world.history
        items.reserveCapacity(world.trees.numbers.count + 1)
        for number in world.trees.numbers {
            var item = world.trees[ItemID(number)]
            if let hash = world.unread[ItemID(number)] { item?.local?.hash = hash }
            if let hash = world.unreported[ItemID(number)], let remote = item?.remote, remote.hash == nil {
                // The tables tell by contents; a server that does not tell them may be asked for the same again.
                if item?.synced.map({ $0.hash == hash && $0.revision != remote.revision }) ?? true { return nil }
                item?.remote?.hash = hash
                unreported.insert(Int(number))
            }
            items.append(item)
        }
        for (number, item) in items.enumerated() {
            guard let item else {
                entries.append(nil)
                continue
            }
            guard let entry = entry(item, number) else { return nil }
            entries.append(entry)
        }
        while true {
            switch settle() {
            case .changed: continue
            case .open: return nil
            case .done:
                guard makeCopies() else { return nil }
                return
            }
        }
    }

    // MARK: One item

    /// The item by its cell; nil when the tables say nothing about it, `.some(nil)` when it goes.
    private mutating func entry(_ item: Item, _ number: Int) -> Entry?? {
        if item.isExcluded || item.isFrozen || item.local?.isLeftover == true { return nil }
        for location in [item.local?.location, item.remote?.location] {
            if let text = location?.name.text, text.utf8.count > 8, text.contains("(moving ") { return nil }
        }
        let (mine, theirs) = Self.changes(of: item)
        guard let verdict = DecisionTable.verdict(mine, theirs) else { return nil }
        let old = Content(item.synced?.hash)?.bit ?? 0
        if verdict.isTrashed { trash |= old }
        if verdict.isHistory { history |= old }
        guard let source = verdict.content else { return .some(nil) }
        let local = item.local?.location
        let remote = item.remote?.location
        let location = verdict.location == .theirs ? remote : local ?? remote
        guard let location else { return nil }
        let agrees = local.map { Self.isSame($0, remote ?? $0) } ?? true
        if verdict.location == .theirs, !agrees, mine != .none, mine != .edit { hasTie = true }
        let hash: ContentHash?
        switch source {
        case .base: hash = item.synced?.hash
        case .mine: hash = item.local?.hash
        case .theirs: hash = item.remote?.hash
        case .merged:
            hash = item.remote?.hash
            if let loser = item.local?.hash, loser != hash {
                hasTie = true
                disputes.append((number, loser))
            }
        }
        return Entry(
            location: location, hash: hash, isCommitted: remote != nil && (agrees || verdict.location != .mine))
    }

    private static func changes(of item: Item) -> (DecisionTable.Change, DecisionTable.Change) {
        guard let synced = item.synced else {
            if item.local != nil, item.remote != nil { return (.unknown, .unknown) }
            return item.local == nil ? (.delete, .create) : (.create, .delete)
        }
        let remoteName = synced.remoteName ?? synced.location.name
        let mine = item.local.map {
            DecisionTable.Change(isEdited: $0.hash != synced.hash, isMoved: $0.location != synced.location)
        }
        let theirs = item.remote.map {
            DecisionTable.Change(
                isEdited: $0.hash != synced.hash, isMoved: $0.location != Location(synced.location.parent, remoteName))
        }
        return (mine ?? .delete, theirs ?? .delete)
    }

    private static func isSame(_ one: Location, _ other: Location) -> Bool {
        one.parent == other.parent && one.name.text == other.name.text
    }

    // MARK: Several items

    private mutating func settle() -> Step {
        for (number, entry) in entries.enumerated() {
            guard let entry else { continue }
            let parent = Int(entry.location.parent.number)
            if parent != 0, entries[parent] == nil { return keep(parent) }
            if lies(number, in: number) { return undoMove(in: number) }
        }
        for number in entries.indices {
            guard let location = entries[number]?.location else { continue }
            let others = entries.indices.dropFirst(number + 1).filter {
                entries[$0]?.location.isSameKey(as: location) == true
            }
            // The tables do not tell which of several on disk becomes one with the server's.
            if others.count > 1 { return .open }
            if let other = others.first { return separate(number, other) }
        }
        return .done
    }

    /// Keeps a folder that one side deleted for what stays in it.
    private mutating func keep(_ folder: Int) -> Step {
        guard let item = items[folder], (item.local == nil) != (item.remote == nil),
            let location = item.local?.location ?? item.remote?.location
        else { return .open }
        entries[folder] = Entry(location: location, isCommitted: item.remote != nil)
        return .changed
    }

    private func lies(_ number: Int, in folder: Int) -> Bool {
        var next = Int(entries[number]?.location.parent.number ?? 0)
        for _ in entries.indices {
            if next == folder { return true }
            if next == 0 { return false }
            next = Int(entries[next]?.location.parent.number ?? 0)
        }
        return false
    }

    /// Undoes the disk's move that makes a circle; the tables do not tell which one when there are several.
    private mutating func undoMove(in start: Int) -> Step {
        hasTie = true
        var circle = [start]
        var next = Int(entries[start]?.location.parent.number ?? 0)
        while next != start, next != 0 {
            circle.append(next)
            next = Int(entries[next]?.location.parent.number ?? 0)
        }
        let undoable = circle.filter { entries[$0]?.isCommitted == false && items[$0]?.remote != nil }
        guard undoable.count == 1, let location = items[undoable[0]]?.remote?.location else { return .open }
        entries[undoable[0]]?.location = location
        entries[undoable[0]]?.isCommitted = true
        return .changed
    }

    /// Makes two entries for one name one, when both are new and alike; otherwise the disk's gets another name.
    private mutating func separate(_ one: Int, _ other: Int) -> Step {
        hasTie = true
        guard let first = entries[one], let second = entries[other], first.isCommitted != second.isCommitted else {
            return .open
        }
        let (winner, loser) = first.isCommitted ? (one, other) : (other, one)
        guard let kept = items[winner], let item = items[loser], let local = item.local else { return .open }
        if kept.local == nil, item.remote == nil, kept.isFolder == item.isFolder, local.hash == kept.remote?.hash {
            if unreported.contains(winner) { return .open }
            entries[loser] = nil
            for number in entries.indices where entries[number]?.location.parent.number == Int64(loser) {
                entries[number]?.location.parent = ItemID(Int64(winner))
            }
            return .changed
        }
        // What is a copy by its name already gets a number, not a second stamp.
        let original = ConflictName.original(of: local.location.name.text).map(EntryName.init) ?? local.location.name
        var location = Location(local.location.parent, Self.copyName(original))
        if location.isSameKey(as: local.location) { location.name = Self.copyName(original, number: 2) }
        if isTaken(location) { return .open }
        entries[loser]?.location = location
        entries[loser]?.original = original
        return .changed
    }

    /// The name of a losing side; no time is told of what is on disk here.
    private static func copyName(_ name: EntryName, number: Int = 1) -> EntryName {
        EntryName(ConflictName.name(for: name.text, ConflictNaming().stamp(nil), number: number))
    }

    private func isTaken(_ location: Location) -> Bool {
        entries.contains { $0?.location.isSameKey(as: location) == true }
            || items.contains {
                $0?.local?.location.isSameKey(as: location) == true
                    || $0?.remote?.location.isSameKey(as: location) == true
            }
    }

    /// Whether the copies' names are free.
    private mutating func makeCopies() -> Bool {
        for (number, hash) in disputes {
            let beside = [entries[number]?.location, items[number]?.local?.location].compactMap { $0 }
            let locations = beside.flatMap { location in
                (1...3).map { Location(location.parent, Self.copyName(location.name, number: $0)) }
            }
            if entries.contains(where: { entry in locations.contains { entry?.location.isSameKey(as: $0) == true } }) {
                return false
            }
            copies.append(Copy(locations: locations, hash: hash))
        }
        return true
    }

    // MARK: In the end

    /// What is different from what must be, if anything.
    func objection(to world: PretendedWorld) -> String? {
        for number in world.trees.numbers where Int(number) >= entries.count {
            if let copy = world.trees[ItemID(number)], !isExpected(copy, in: world) {
                return "\(copy.id) is no copy of anything"
            }
        }
        if copies.count != world.trees.items.count(where: { Int($0.id.number) >= entries.count }) {
            return "not \(copies.count) conflict copies"
        }
        for (number, entry) in entries.enumerated().dropFirst() {
            let id = ItemID(Int64(number))
            switch (entry, world.trees[id]) {
            case (nil, nil): continue
            case (nil, _): return "\(id) is still there"
            case (_, nil): return "\(id) vanished"
            case (let entry?, let item?):
                for location in [item.local?.location, item.remote?.location] {
                    if Self.isSame(entry.location, location ?? .root) { continue }
                    if let original = entry.original, let location,
                        (1...3).contains(where: { number in
                            let copy = Location(entry.location.parent, Self.copyName(original, number: number))
                            return Self.isSame(copy, location)
                        })
                    {
                        continue
                    }
                    return "\(id) is not at \(entry.location.parent)/\(entry.location.name)"
                }
                if item.local?.hash != entry.hash || world.serverHash(item) != entry.hash {
                    return "\(id) has not content \(Content(entry.hash)?.number ?? -1)"
                }
            }
        }
        if world.trash != trash { return "the trash has \(numbers(world.trash)) instead of \(numbers(trash))" }
        if world.history != history {
            return "the history has \(numbers(world.history)) instead of \(numbers(history))"
        }
        return nil
    }

    private func isExpected(_ item: Item, in world: PretendedWorld) -> Bool {
        copies.contains { copy in
            item.local?.hash == copy.hash && item.remote?.hash == copy.hash
                && [item.local?.location, item.remote?.location].allSatisfy { location in
                    copy.locations.contains { expected in
                        // A folder that became part of another has taken the copy along.
                        Self.isSame(expected, location ?? .root)
                            || world.trees[expected.parent] == nil && expected.name.key == location?.name.key
                    }
                }
        }
    }

    private func numbers(_ contents: UInt64) -> [Int] { (0..<64).filter { contents & Content($0).bit != 0 } }
}

extension Location {
    /// The place of what is nowhere.
    fileprivate static let root = Location(.root, EntryName("", key: ""))
}
