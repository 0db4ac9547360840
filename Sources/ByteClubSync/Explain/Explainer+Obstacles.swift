import ByteClubCore

extension Explainer {
    /// The obstacles of an item and of the folders above it: problems, unreadable entries, and held deletions.
    func ownObstacles(_ chain: [Item]) throws -> (lines: [String], nextAttempt: Int64?) {
        guard let item = chain.first else { return ([], nil) }
        let path = try store.shownPath(of: item)
        var lines: [String] = []
        var nextAttempt: Int64?
        for above in chain {
            let abovePath = try store.shownPath(of: above)
            let known = problems.filter { $0.item == above.id || $0.path.utf8.elementsEqual(abovePath.utf8) }
            for problem in known {
                lines.append(line(problem, for: path))
                nextAttempt = [nextAttempt, problem.nextAttempt].compactMap { $0 }.min()
            }
            if known.isEmpty, above.isFrozen {
                lines.append(
                    above.id == item.id
                        ? "it cannot be read now"
                        : "the folder '\(abovePath)' cannot be read now")
            }
        }
        switch waiting[item.id] {
        case .queued: lines.append("it is large and waits for other large files")
        case .scheduled: lines.append("it is large and waits for the schedule")
        case .written(let until):
            lines.append("it is being written, or was just written")
            nextAttempt = [nextAttempt, until].compactMap { $0 }.min()
        case .underWay, nil: break
        }
        if let heldRules, path == IgnoreRules.fileName { lines.append(heldRules.line) }
        for above in chain {
            guard let deletion = held.first(where: { $0.item == above.id }) else { continue }
            let location = deletion.side == .local ? "here" : "on the server"
            lines.append(
                "its deletion \(location) is held; see 'byteclub sync deletes review'")
            break
        }
        return (lines, nextAttempt)
    }

    /// A problem's line; for a folder above the path, with that folder's path.
    func line(_ problem: ProblemRecord, for path: String) -> String {
        problem.path.isEmpty || problem.path.utf8.elementsEqual(path.utf8)
            ? problem.message : "'\(problem.path)': \(problem.message)"
    }

    /// What an item waits for by the plan, and what that waits for in turn.
    func planObstacles(of id: ItemID, _ plan: Plan, _ seen: inout Set<ItemID>) throws -> [String] {
        guard let blocker = plan.blocked[id] else { return [] }
        let other = blocker.item
        if other == id { return [] }
        guard let item = try store.item(other) else { return [words(blocker, "an entry that is not yet known")] }
        let chain = try store.lineage(of: item)
        var lines = [words(blocker, "'\(try store.shownPath(of: item))'")]
        if let excluded = chain.first(where: \.isExcluded) { lines.append(try exclusion(of: excluded)) }
        if !seen.insert(other).inserted { return lines }
        lines += try ownObstacles(chain).lines
        lines += try planObstacles(of: other, plan, &seen)
        return lines
    }

    private func words(_ blocker: Blocker, _ other: String) -> String {
        switch blocker {
        case .parent: "its folder must be there first: \(other)"
        case .name: "another entry still has the name: \(other)"
        case .contents: "something is still in it: \(other)"
        case .frozen: "it waits for a skipped entry: \(other)"
        }
    }

    /// What prevents the whole mirror from being synced.
    func sharedObstacles() throws -> [String] {
        var lines: [String] = []
        switch try store.meta(.pausedUntil).flatMap({ Pause($0, now: facts.now) }) {
        case nil: break
        case .forever: lines.append("syncing is paused until it is resumed")
        case .until(let time): lines.append("syncing is paused for another \(Self.duration(time - facts.now))")
        }
        if facts.isRunning, try store.meta(.metered) != nil {
            lines.append("the network is metered, and the sync waits for an unmetered one")
        }
        if let obstacle = try store.records(ObstacleRecord.self).first {
            lines.append("\(obstacle.message), for \(Self.duration(max(0, facts.now - obstacle.since)))")
        }
        if isAway { lines.append("the mirror's folder is gone or was replaced: is its disk mounted?") }
        if !facts.isRunning { lines.append("sync is not running; start it with 'byteclub sync'") }
        return lines
    }

    /// Why an excluded item is excluded.
    func exclusion(of item: Item) throws -> String {
        try reasonForExclusion(try store.shownPath(of: item), isFolder: item.isFolder)
            ?? "the ignore rules or the selection exclude it"
    }

    /// Why a path is excluded; nil when it is not.
    func reasonForExclusion(_ path: String, isFolder: Bool) throws -> String? {
        if let line = try deselection(of: path) { return line }
        guard let key = try? RemotePath("/" + path).key else { return "its name cannot be synced" }
        guard rules.excludes(key, isFolder: isFolder) else { return nil }
        guard let number = rules.deciding(key, isFolder: isFolder) else { return "names like this are never synced" }
        if number == 0 {
            return "its name is that of a temporary file of an editor or browser; a line '!NAME' in "
                + "\(IgnoreRules.fileName) includes it"
        }
        let lines = ignoreText.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let text = lines.indices.contains(number - 1) ? ": \(lines[number - 1])" : ""
        return "line \(number) of \(IgnoreRules.fileName) ignores it\(text)"
    }

    /// The line about the deselected folder that excludes a path; nil when there is none.
    func deselection(of path: String) throws -> String? {
        let key = PathKey(folded: "/" + PathKey.fold(path))
        let folders = try Selection(store).keys
        guard let folder = folders.first(where: { $0 == key || key.isBelow($0) }) else { return nil }
        // As it is spelled in the path that was asked about.
        let depth = folder.string.utf8.split(separator: UInt8(ascii: "/")).count
        let names = path.utf8.split(separator: UInt8(ascii: "/")).prefix(depth)
        let shown = names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
        return "the folder '\(shown)' is not selected for this machine"
    }

    /// A time span in its largest unit.
    private static func duration(_ seconds: Int64) -> String {
        let (count, unit): (Int64, String) =
            switch seconds {
            case ..<60: (seconds, "second")
            case ..<3_600: (seconds / 60, "minute")
            case ..<86_400: (seconds / 3_600, "hour")
            default: (seconds / 86_400, "day")
            }
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}

extension Blocker {
    /// The item that is in the way.
    fileprivate var item: ItemID {
        switch self {
        case .parent(let id), .name(let id), .contents(let id), .frozen(let id): id
        }
    }
}

extension Explainer {
    /// Notes on an item beside its plan: names that no member chose.
    func notes(on item: Item, _ plan: Plan) throws -> [String] {
        let path = try store.shownPath(of: item)
        var notes: [String] = []
        if let note = try conflictNote(on: path) { notes.append(note) }
        if item.isTemporary(item.local?.location) || item.isTemporary(item.remote?.location) {
            notes.append("it has a temporary name while entries swap names")
        }
        if plan.rules[item.id] == .nameClash, let holder = try namesakes(of: item).first {
            let other = try store.shownPath(of: holder)
            let isSame = other.utf8.elementsEqual(path.utf8)
            notes.append(
                isSame
                    ? "another entry has the name on the server"
                    : "another entry has the name: the server treats '\(other)' as the same name"
            )
        }
        return notes
    }

    /// Other entries with an item's name by the server's rules, on either side.
    func namesakes(of item: Item) throws -> [Item] {
        var found: [Item] = []
        for location in [item.local?.location, item.remote?.location].compactMap(\.self)
        where !location.name.text.isEmpty {
            for side in [Side.local, .remote] {
                for other in try store.children(of: location.parent, key: location.name.key, on: side)
                where other.id != item.id && !found.contains(where: { $0.id == other.id }) {
                    found.append(other)
                }
            }
        }
        return found
    }

    /// Of which file a path is the conflict copy, or which copy it has.
    private func conflictNote(on path: String) throws -> String? {
        if let copied = try store.conflicts(all: true).first(where: { $0.copy.utf8.elementsEqual(path.utf8) }) {
            return copied.isResolved
                ? "it was kept as a conflict copy of '\(copied.path)', and that conflict is resolved"
                : "it is a conflict copy of '\(copied.path)'; " + advice(copied.path)
        }
        if let open = try store.conflicts(all: false).first(where: { $0.path.utf8.elementsEqual(path.utf8) }) {
            return "another version of it is kept as '\(open.copy)'; " + advice(open.path)
        }
        let (folder, name) = LocalPath.split(path)
        return ConflictName.original(of: name).map {
            "by its name it is a conflict copy of '\(LocalPath.join(folder, $0))', "
                + "but 'byteclub conflicts' has no such conflict on this machine"
        }
    }

    private func advice(_ path: String) -> String { "see \(ShellWord.command("byteclub conflicts show", path))" }
}

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
