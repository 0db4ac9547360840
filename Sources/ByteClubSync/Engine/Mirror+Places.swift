import ByteClubCore

extension Mirror {
    /// The path of an item relative to the mirror's root as a side has it, for people and for the trash.
    func path(of id: ItemID, on side: Side) throws -> String {
        var names: [String] = []
        var next = id
        while next != .root, next != .outside, names.count < NameRules.maximumDepth {
            guard let item = try store.item(next), let place = side == .local ? item.local?.place : item.remote?.place
            else { break }
            names.append(place.name.text)
            next = place.parent
        }
        return names.reversed().joined(separator: "/")
    }

    /// The path by which people know an item: the disk's where it is there, else the server's or the last one.
    func shownPath(of id: ItemID) throws -> String {
        guard let item = try store.item(id) else { return "" }
        if item.local != nil { return try path(of: id, on: .local) }
        if item.remote != nil { return try path(of: id, on: .remote) }
        guard let place = item.synced?.place else { return "" }
        return LocalPath.join(try shownPath(of: place.parent), place.name.text)
    }

    /// The path of an item on the server.
    ///
    /// - Throws: ``RemoteError`` that may pass when the tree of the server is broken: the next cycle reads all of it.
    func remotePath(of id: ItemID) throws -> RemotePath {
        var names: [String] = []
        var next = id
        while next != .root {
            guard names.count < NameRules.maximumDepth, let place = try store.item(next)?.remote?.place else {
                // Only a walk over everything can mend that.
                try store.setMeta(.cursor, nil)
                isFeedStale = true
                throw RemoteError(
                    .serverFault, "a folder is missing in the mirror's tree of the server, which is read anew")
            }
            names.append(place.name.text)
            next = place.parent
        }
        return try names.reversed().reduce(configuration.remoteRoot) { try $0.appending($1) }
    }

    /// The path of a place on the server.
    func remotePath(of place: Place) throws -> RemotePath {
        try remotePath(of: place.parent).appending(place.name.text)
    }

    /// Opens the folder of an item; nil when it is not where the tree says, and is looked at again.
    func folder(_ id: ItemID) throws -> (any DiskFolder)? {
        if id == .root { return root }
        if let open = openFolders[id] { return open }
        guard let local = try store.item(id)?.local, local.isFolder, let parent = try folder(local.place.parent) else {
            return nil
        }
        do throws(FileError) {
            let found = try parent.folder(local.place.name.text)
            guard try found.look().handle == local.look?.handle else {
                suspects.insert(local.place.parent)
                return nil
            }
            if openFolders.count >= 128 { openFolders.removeAll(keepingCapacity: true) }
            openFolders[id] = found
            return found
        } catch {
            guard error.isMissing else { throw error }
            suspects.insert(local.place.parent)
            return nil
        }
    }

    /// Leaves a file alone that somebody is writing: two seconds at first, then twice as long each time up to a minute.
    func postpone(_ item: ItemID) {
        let delay = busy[item].map { min($0.delay * 2, .seconds(60)) } ?? .seconds(2)
        busy[item] = Postponement(until: surroundings.uptime() + delay, delay: delay)
    }

    /// Notes that the disk refused something about an item; an entry that is not there any more is looked for.
    func note(_ error: any Error, about item: ItemID) throws {
        if !(error is FileError) { throw error }
        guard let error = error as? FileError else { return }
        if let parent = try store.item(item)?.local?.place.parent { suspects.insert(parent) }
        if error.isMissing { return }
        try refuse(item, error.description)
    }

    /// Notes that a name is taken on the disk that an item was to have: by an entry that the tree knows there, by something
    /// new, which the next look finds, or by what is left alone and told of; else the disk takes two names for one that
    /// are two by their keys.
    func noteTaken(_ place: Place, wantedBy item: ItemID) throws {
        suspects.insert(place.parent)
        if try !store.children(of: place.parent, key: place.name.key, on: .local).isEmpty { return }
        let path = LocalPath.join(try shownPath(of: place.parent), place.name.text)
        if try store.problems().contains(where: { $0.path.utf8.elementsEqual(path.utf8) && $0.item != item }) { return }
        try refuse(item, "this disk takes its name for another entry's: '\(path)'")
    }

    /// Counts a refusal; from the third in a row on, it is a problem that people are told of, and waits longer each time.
    ///
    /// In a breach it is the server that is at fault, and not what it thinks of the entry.
    func refuse(_ item: ItemID, _ message: String, isFinal: Bool = false, isBreach: Bool = false) throws {
        refusals[item, default: 0] += 1
        let count = refusals[item] ?? 1
        guard isFinal || count >= 3 else { return }
        if isBreach { breach = breach ?? RemoteError(.protocolViolation, message) }
        let delay = min(Int64(1) << min(count, 12), 3_600)
        busy[item] = Postponement(until: surroundings.uptime() + .seconds(delay), delay: .seconds(delay))
        let path = try shownPath(of: item)
        let problem = Problem(
            path: path, item: item, message: message, isFromScan: false, nextAttempt: seconds + delay)
        try store.setProblem(problem, path: path)
        tally.noteOnce(SyncEvent(.problem, path: path, message: message))
    }
}
