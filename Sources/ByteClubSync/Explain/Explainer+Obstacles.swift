import ByteClubCore

extension Explainer {
    /// What is wrong with an item or a folder above it: problems, what cannot be read, deletions that wait.
    func ownObstacles(_ chain: [Item]) throws -> (lines: [String], nextAttempt: Int64?) {
        guard let item = chain.first else { return ([], nil) }
        let path = try store.path(of: item)
        var lines: [String] = []
        var nextAttempt: Int64?
        for above in chain {
            let abovePath = try store.path(of: above)
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
        var lines = [words(blocker, "'\(try store.path(of: item))'")]
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
        if let obstacle = try store.records(ObstacleRecord.self).first {
            lines.append("\(obstacle.message), for \(Self.duration(max(0, facts.now - obstacle.since)))")
        }
        if isAway { lines.append("the mirror's folder is gone or was replaced: is its disk mounted?") }
        if !facts.isRunning { lines.append("sync is not running; start it with 'byteclub sync'") }
        return lines
    }

    /// Why an excluded item is excluded.
    func exclusion(of item: Item) throws -> String {
        try reasonForExclusion(try store.path(of: item), isFolder: item.isFolder)
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
