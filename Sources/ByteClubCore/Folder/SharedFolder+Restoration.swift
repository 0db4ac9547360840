/// Planning a ``Restoration``.
extension SharedFolder {
    /// How many entries are looked up at once.
    private static let restorationPage = 1_000
    /// The versions of an entry that are looked up at first; most have few.
    private static let firstVersions = 4

    /// An entry that has changed.
    private struct Changed {
        let now: FolderEntry
        /// What was there; nil for nothing.
        let then: FolderEntry?
    }

    /// Plans how a folder becomes what it was after a change.
    ///
    /// - Throws: ``APIError`` 413 when that takes more than ``Restoration/mostSteps``.
    public func restoration(to goal: Restoration.Goal) throws -> Restoration {
        var plan = Restoration(goal)
        plan.revision = try state.lastRevision()
        let complete = try state.completeRevision()
        var changed: [Changed] = []
        var kept = Kept()
        var above = goal.folder.parent
        while let path = above, !path.isRoot {
            if let entry = try live(path), !entry.isFolder { kept.files.insert(path.key) }
            above = path.parent
        }
        var left: [(path: RemotePath, why: WritableKeyPath<Restoration, Restoration.Entries>)] = []
        func leave(_ entry: FolderEntry, _ why: WritableKeyPath<Restoration, Restoration.Entries>) {
            kept.add(entry)
            left.append((entry.path, why))
        }
        var position = goal.revision
        while true {
            let page = try state.changes(
                after: position, prefix: goal.folder.key, includeDeleted: true, limit: Self.restorationPage)
            for now in page {
                let past = try past(of: now, goal)
                let then = past.version.flatMap { $0.isDeleted ? nil : $0 }
                let isKnown = past.isKnown(since: complete)
                if then != nil || isKnown, Restoration.isSame(now, then) { continue }
                if !isKnown {
                    leave(now, \.forgotten)
                } else if !past.isOfAuthor {
                    leave(now, \.others)
                } else if goal.keepsNewer, !now.isDeleted, then?.isFolder != now.isFolder {
                    leave(now, \.newer)
                } else {
                    changed.append(Changed(now: now, then: then))
                }
            }
            guard changed.count <= Restoration.mostSteps, left.count <= 10 * Restoration.mostSteps else {
                throw APIError(413, "This changes too many files at once. Choose a folder or a later moment.")
            }
            guard page.count == Self.restorationPage, let last = page.last else { break }
            position = last.revision
        }
        changed.sort { $0.now.path.key < $1.now.path.key }
        Self.plan(changed, kept, &plan)
        for (path, why) in left.sorted(by: { $0.path.key < $1.path.key }) { plan[keyPath: why].add(path) }
        return plan
    }

    /// What stays although it was not there, or not so.
    private struct Kept {
        /// The files, in whose place no folder can be made.
        var files: Set<PathKey> = []
        /// The folders above what stays.
        var needed: Set<PathKey> = []

        mutating func add(_ entry: FolderEntry) {
            if entry.isDeleted { return }
            if entry.isFolder { needed.insert(entry.path.key) } else { files.insert(entry.path.key) }
            var above = entry.path.key.parent
            while let key = above, key != .root, needed.insert(key).inserted { above = key.parent }
        }

        /// Whether a file that stays is above a place.
        func blocks(_ key: PathKey) -> Bool {
            var above = key.parent
            while let place = above, place != .root {
                if files.contains(place) { return true }
                above = place.parent
            }
            return false
        }
    }

    /// Adds the steps: first what goes, from below, then what comes, from above, and at last the names of folders.
    private static func plan(_ changed: [Changed], _ kept: Kept, _ plan: inout Restoration) {
        var (goes, comes, renames): ([Restoration.Step], [Restoration.Step], [Restoration.Step]) = ([], [], [])
        for entry in changed {
            let (now, then) = (entry.now, entry.then)
            let isReplaced = !now.isDeleted && then?.isFolder != now.isFolder
            if let then, kept.blocks(now.path.key) || (isReplaced && now.isFolder && kept.needed.contains(now.path.key))
            {
                plan.blocked.add(then.path)
                continue
            }
            if isReplaced, !now.isFolder || !kept.needed.contains(now.path.key) {
                goes.append(.init(action: .remove, path: now.path, isFolder: now.isFolder, seen: now.revision))
            }
            guard let then else { continue }
            let action: Restoration.Step.Action =
                switch (then.isFolder, now.isDeleted || isReplaced) {
                case (true, true): .makeFolder
                case (true, false): .rename
                case (false, true): .bringBack(then.revision)
                case (false, false): .changeBack(then.revision)
                }
            let step = Restoration.Step(
                action: action, path: then.path, isFolder: then.isFolder, seen: now.revision)
            if action == .rename { renames.append(step) } else { comes.append(step) }
        }
        plan.steps = goes.reversed() + comes + renames
    }

    /// What an entry was.
    private struct Past {
        /// The version of that time; nil for none.
        let version: FolderEntry?
        /// The first version after it.
        let first: FolderEntry
        /// Whether all versions after it are of the goal's author.
        let isOfAuthor: Bool

        /// Whether no version between the two can have been forgotten, when none is that was replaced after a revision.
        func isKnown(since complete: Int64) -> Bool {
            if first.revision <= complete { return false }
            let isEdit = first.contentRevision == first.revision && first.placeRevision < first.revision
            guard first.isDeleted || isEdit else { return true }
            // A deletion and a new content follow a live version of the same entry.
            return version.map { !$0.isDeleted && $0.node == first.node } ?? false
        }
    }

    private func past(of now: FolderEntry, _ goal: Restoration.Goal) throws -> Past {
        var (first, isOfAuthor) = (now, true)
        var limit = Self.firstVersions
        var page = try state.versions(now.path.key, before: nil, limit: limit)
        while true {
            for version in page {
                if version.revision <= goal.revision {
                    return Past(version: version, first: first, isOfAuthor: isOfAuthor)
                }
                if let author = goal.author, version.author != author { isOfAuthor = false }
                first = version
            }
            guard page.count == limit, let last = page.last else {
                return Past(version: nil, first: first, isOfAuthor: isOfAuthor)
            }
            limit = 100
            page = try state.versions(now.path.key, before: last.revision, limit: limit)
        }
    }
}

/// Carrying out a ``Restoration``.
extension SharedFolder {
    /// Whether all that a plan changes is as it was after an earlier change, but for what the same plan did already.
    public func isCurrent(_ plan: Restoration, since seen: Int64) throws -> Bool {
        for step in plan.steps where step.seen > seen {
            switch step.action {
            case .bringBack, .makeFolder: break
            case .remove, .changeBack, .rename: return false
            }
            // A plan that was broken off may have removed what is replaced, and no more.
            guard let old = try state.version(step.path.key, before: seen + 1), !old.isDeleted,
                old.isFolder != step.isFolder
            else { return false }
        }
        return true
    }

    /// Does one step, unless there is something else now than when it was planned.
    ///
    /// - Returns: Whether it was done, which is false also when nothing was to be done.
    public mutating func take(_ step: Restoration.Step) throws -> Bool {
        let now = try latest(step.path)
        let isLive = now.map { !$0.isDeleted } ?? false
        switch step.action {
        case .remove:
            guard let now, isLive, now.revision == step.seen, now.isFolder == step.isFolder else { return false }
            if now.isFolder, try !state.children(now.path.key, includeDeleted: false, limit: 1).isEmpty { return false }
            _ = try delete(now.path, seen: nil)
        case .makeFolder:
            guard let now, !isLive, let place = try freePlace(of: step.path) else { return false }
            let node = try now.isFolder ? undeletable(now) : .root
            try record(.folder(at: place, node: node))
        case .rename:
            guard let now, isLive, now.isFolder, now.path.name != step.path.name, let above = now.path.parent,
                let parent = try latest(above)
            else { return false }
            let target = try Place(path: above.appending(step.path.name), parent: parent.node)
            _ = try move(now, summary(of: now, limit: Self.maximumBatchEntries), to: target)
        case .bringBack(let revision):
            guard !isLive, try freePlace(of: step.path) != nil else { return false }
            return try bringBack(step.path, revision)
        case .changeBack(let revision):
            guard let now, isLive, !now.isFolder, now.revision == step.seen else { return false }
            return try bringBack(step.path, revision)
        }
        return true
    }

    private mutating func bringBack(_ path: RemotePath, _ revision: Int64) throws -> Bool {
        guard let old = try state.version(path.key, revision: revision), !old.isFolder, !old.isDeleted else {
            return false
        }
        _ = try restore(path, to: JournalRevision(number: revision))
        return true
    }

    /// A place whose folders are made if need be; nil when a file is where one of them would be.
    private mutating func freePlace(of path: RemotePath) throws -> Place? {
        var above = path.parent
        while let folder = above, !folder.isRoot {
            if let entry = try live(folder) {
                if !entry.isFolder { return nil }
                break
            }
            above = folder.parent
        }
        return try prepareParent(of: path, undeleting: true)
    }
}

extension Restoration {
    /// Whether an entry is what it was, apart from the names of the folders above it.
    static func isSame(_ now: FolderEntry, _ then: FolderEntry?) -> Bool {
        guard let then else { return now.isDeleted }
        return !now.isDeleted && now.isFolder == then.isFolder && now.path.name == then.path.name
            && now.contentHash == then.contentHash && now.isExecutable ?? false == then.isExecutable ?? false
    }
}

extension SharedFolder {
    /// The last change at or before a time, by the server's clock, and when the next one was made.
    public func revision(at moment: Int64) throws -> (revision: Int64, next: APIDate?) {
        var found = (revision: try state.lastRevision(), next: APIDate?.none)
        try state.forEachChange(before: .max) { entry in
            if entry.modified.seconds <= moment { return false }
            found = (entry.revision - 1, entry.modified)
            return true
        }
        return found
    }

    /// When the first change after a revision was made; nil when there is none.
    public func date(ofChangeAfter revision: Int64) throws -> APIDate? {
        var date: APIDate?
        try state.forEachChange(before: .max) { entry in
            if entry.revision <= revision { return false }
            date = entry.modified
            return true
        }
        return date
    }
}
