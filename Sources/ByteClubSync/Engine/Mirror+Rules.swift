import ByteClubCore
import Glibc

extension Mirror {
    /// Reads what is kept out of the mirror, by the ignore file and by choice, and brings the trees in line with it when
    /// that has changed; then everything is to be looked at.
    func loadRules() throws -> Bool {
        var rules = ScanRules()
        let (oldHash, applied) = try appliedRules()
        let file = try rulesToApply(inForce: oldHash)
        rules.ignored = file.rules
        let wanted = try Selection(store.meta(.deselected)).keys
        // What is on disk in a folder that is to be left out goes first, once the server has it all.
        rules.deselected = try wanted.filter { try applied.contains($0) || localFolder(at: $0) == nil }
        leaving = wanted.subtracting(rules.deselected).sorted { $0.string < $1.string }
        // Trees that were brought in line before the text was kept may lack the ignore file itself.
        let isOld = try !oldHash.isEmpty && store.meta(.ignoreText) == nil
        let isNew = file.hash != oldHash || rules.deselected != applied || isOld
        scanner.rules = rules
        if isNew { try apply(rules, file) }
        ignoreFile = file
        return isNew
    }

    /// Leaves folders out from now on that were waiting for it, those of which the server has everything; their files
    /// go into the trash.
    func leaveFolders() throws {
        try resumeDepartures()
        for key in leaving {
            guard let id = try localFolder(at: key) else { continue }
            var departure = Departure(store)
            guard try departure.gather(id, at: path(of: id, on: .local)) else { continue }
            scanner.rules.deselected.insert(key)
            try apply(scanner.rules, ignoreFile, departing: key)
            leaving.removeAll { $0 == key }
            try remove(departure)
        }
    }

    /// `departing` is a folder whose files are to be removed from the disk next.
    private func apply(_ rules: ScanRules, _ file: IgnoreFile, departing: PathKey? = nil) throws {
        let kept = rules.deselected.map(\.string).sorted()
        let lines = ([file.hash] + kept).joined(separator: "\n")
        try store.transaction(durably: true) {
            try ExclusionPass(store: store, rules: rules).run()
            try store.setMeta(.rules, lines.isEmpty ? nil : lines)
            try store.setMeta(.ignoreText, file.text)
            if let departing { try store.setMeta(.departing, departing.string) }
        }
        openFolders.removeAll(keepingCapacity: true)
    }

    private func appliedRules() throws -> (hash: String, deselected: Set<PathKey>) {
        let lines = (try store.meta(.rules) ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        return (String(lines.first ?? ""), Set(lines.dropFirst().map { PathKey(folded: String($0)) }))
    }

    /// The folder on disk that has a path by its keys; nil when none has.
    private func localFolder(at key: PathKey) throws -> ItemID? {
        var found = ItemID.root
        for name in key.string.utf8.split(separator: UInt8(ascii: "/")) {
            let children = try store.children(of: found, key: String(Substring(name)), on: .local)
            guard let next = children.first(where: \.isFolder) else { return nil }
            found = next.id
        }
        return found == .root ? nil : found
    }

    /// Puts the files of a folder that was left out into the trash; what has changed in the last moment stays, and what
    /// the disk refuses is tried again.
    func remove(_ departure: Departure) throws {
        guard let area else { return }
        var isDone = true
        for file in departure.files {
            do throws(FileError) {
                let folder = try root.folder(below: LocalPath.split(file.path).parent)
                guard let look = file.look, try folder.entry(file.name)?.look.isUntouched(since: look) == true else {
                    continue
                }
                let leaving = StagedName.leaving(file.item, expected: file.hash).text
                try folder.rename(file.name, to: area.staging, leaving, .withoutReplacing)
                if try isStill(look, file.hash, leaving, in: area.staging) {
                    try trash(leaving, file.item, file.path, area)
                } else {
                    try area.staging.rename(leaving, to: folder, file.name, .withoutReplacing)
                }
            } catch {
                if !error.isMissing { isDone = false }
            }
        }
        for path in departure.folders {
            let (parent, name) = LocalPath.split(path)
            do throws(FileError) {
                try root.folder(below: parent).removeFolder(name)
            } catch {
                if !error.isMissing, error.code != ENOTEMPTY, error.code != EEXIST { isDone = false }
            }
        }
        try root.syncFileSystem()
        if isDone { try store.setMeta(.departing, nil) } else { isStagingUnclear = true }
    }
}

extension DiskFolder {
    /// Opens a folder below it, by its path.
    func folder(below path: String) throws(FileError) -> any DiskFolder {
        var current: any DiskFolder = self
        for name in path.utf8.split(separator: UInt8(ascii: "/")) {
            current = try current.folder(String(Substring(name)))
        }
        return current
    }
}

extension DiskLook {
    /// Whether it is the same file, and nothing at all has happened to it.
    func isUntouched(since other: DiskLook) -> Bool {
        handle == other.handle && fingerprint.isUntouched(since: other.fingerprint)
    }
}
