import ByteClubCore
import CLinux
import Glibc

/// Content that came from the server and waits to be put in its place.
struct Incoming: Sendable {
    enum Place: Sendable {
        case bytes([UInt8])
        /// A whole file in staging, by its name there.
        case staged(String)
    }

    let remote: Node
    let place: Place
    let hash: ContentHash
    let size: Int64
    /// The version that was received.
    let revision: Revision?
}

/// A file on its way from staging to its place.
private struct Arrival {
    let incoming: Incoming
    let row: MirrorRow
    let path: String
    let op: String
    let stage: String
    /// What stands at the place and is to be replaced; nil when nothing does.
    let replaced: LocalEntry?
    /// How the file looked in staging, and then in its place.
    var staged: Fingerprint?
    var look: Look?
}

extension Mirror {
    /// Names a file in staging; new files and replacements are told apart when a crash leaves them behind.
    private static func stageName(replaces: Bool) -> String {
        var generator = SystemRandomNumberGenerator()
        return (replaces ? "r-" : "c-") + String(UInt64.random(in: 0...UInt64.max, using: &generator), radix: 36)
    }

    /// Where a photo may be received: a path that leads into staging and nowhere else.
    func stagePath(for key: PathKey) -> (name: String, path: String)? {
        guard let area else { return nil }
        let name = Self.stageName(replaces: rows[key]?.local != nil)
        return (name, "/proc/self/fd/\(area.staging.number)/\(name)")
    }

    /// Hashes a file in staging.
    func hashStaged(_ name: String) throws -> ContentHash {
        guard let area else { throw FileError(operation: "open", path: name, code: ENOENT) }
        return try ContentReader.hash(of: area.staging.open(name, O_RDONLY))
    }

    /// Removes a file from staging.
    func dropStaged(_ name: String) { try? area?.staging.remove(name) }

    /// Puts received files in their places, and gives those that are there.
    ///
    /// All content is on disk before the first name shows it, and all names before the database says so.
    func place(_ batch: [Incoming]) throws -> [Incoming] {
        guard let area else { return [] }
        var arrivals: [Arrival] = []
        for incoming in batch {
            if let arrival = try stage(incoming, area) { arrivals.append(arrival) }
        }
        if arrivals.isEmpty { return [] }
        if arrivals.count > 3 {
            try area.staging.syncFileSystem()
        } else {
            for arrival in arrivals { try area.staging.open(arrival.stage, O_RDONLY).sync() }
        }
        let intents = arrivals.filter { $0.replaced != nil }.map {
            Intent(
                op: $0.op, verb: .replace, path: $0.path, stage: $0.stage, expected: $0.replaced?.hash,
                target: $0.incoming.hash)
        }
        let expectations = arrivals.map {
            Expectation(
                key: $0.row.key, path: $0.path, hash: $0.incoming.hash, size: $0.incoming.size,
                revision: $0.incoming.revision ?? Revision(number: 0))
        }
        try probe.before(.commit("intents"))
        try store.transaction {
            try MirrorStore.add($0, intents)
            try MirrorStore.expect($0, expectations)
        }
        var done: [Arrival] = []
        for var arrival in arrivals where try show(&arrival, area) { done.append(arrival) }
        for folder in Set(done.map { LocalPath.split($0.path).parent }).sorted() { try syncFolder(folder) }
        try remember(done, of: arrivals, closing: intents.map(\.op))
        return done.map(\.incoming)
    }

    private func stage(_ incoming: Incoming, _ area: PrivateArea) throws -> Arrival? {
        let key = incoming.remote.path.key
        guard let row = rows[key], let parent = key.parent, let folder = try localPath(of: parent),
            row.local?.isFolder != true
        else {
            if case .staged(let name) = incoming.place { try? area.staging.remove(name) }
            return nil
        }
        let path = LocalPath.join(folder, row.local?.name ?? row.remote?.name ?? incoming.remote.path.name)
        var stage: String
        switch incoming.place {
        case .staged(let name): stage = name
        case .bytes(let bytes):
            stage = Self.stageName(replaces: row.local != nil)
            try probe.before(.stage(path))
            do {
                try area.staging.open(stage, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666).write(bytes)
            } catch {
                try? area.staging.remove(stage)
                try fail(key, at: path, error)
                return nil
            }
        }
        return Arrival(
            incoming: incoming, row: row, path: path, op: stage, stage: stage, replaced: row.local)
    }

    /// Gives a staged file its name in the mirror; false when the place is not as the plan saw it.
    private func show(_ arrival: inout Arrival, _ area: PrivateArea) throws -> Bool {
        let folder: FileDescriptor
        let name: String
        do {
            (folder, name) = try place(of: arrival.path)
            guard try isAsPlanned(arrival, folder, name) else {
                try area.staging.remove(arrival.stage)
                return false
            }
            arrival.staged = try area.staging.status(of: arrival.stage).map { Fingerprint($0) }
            try probe.before(.rename(arrival.path))
            if arrival.replaced == nil {
                try area.staging.moveWithoutReplacing(arrival.stage, to: folder, name)
            } else {
                try exchange(arrival, folder, name, area)
            }
        } catch let error as FileError {
            try? area.staging.remove(arrival.stage)
            try fail(arrival.row.key, at: arrival.path, error)
            return false
        }
        // From here on somebody's file may be in staging: a failure ends the sync, and the intent tells the next one.
        if arrival.replaced != nil {
            try probe.before(.inspect(arrival.path))
            try putAside(
                arrival.stage, from: area.staging, expected: arrival.replaced?.hash,
                fingerprint: arrival.replaced?.fingerprint, path: arrival.path, in: folder)
        }
        arrival.look = try folder.status(of: name).map { Look($0) }
        return true
    }

    private func isAsPlanned(_ arrival: Arrival, _ folder: FileDescriptor, _ name: String) throws -> Bool {
        guard let replaced = arrival.replaced else { return true }
        guard let status = try folder.status(of: name), status.st_mode & S_IFMT == S_IFREG,
            Fingerprint(status) == replaced.fingerprint
        else {
            suspect(arrival.path)
            return false
        }
        if let file = try? folder.open(name, O_RDONLY | O_NONBLOCK), file.isBeingWritten {
            postpone(arrival.row.key)
            return false
        }
        return true
    }

    /// Changes places with the old file, which then stands in staging; after a failure it is where it was.
    private func exchange(
        _ arrival: Arrival, _ folder: FileDescriptor, _ name: String, _ area: PrivateArea
    ) throws(FileError) {
        do throws(FileError) {
            try area.staging.rename(arrival.stage, to: folder, name, byteclub_rename_exchange)
        } catch {
            guard error.code == EINVAL || error.code == ENOSYS else { throw error }
            // No exchange on this file system: the old file steps aside first, then the new one takes its place.
            let aside = arrival.stage + ".old"
            try folder.rename(name, to: area.staging, aside)
            do throws(FileError) {
                try area.staging.moveWithoutReplacing(arrival.stage, to: folder, name)
            } catch {
                try putBack(aside, from: area.staging, to: folder, path: arrival.path, hash: arrival.replaced?.hash)
                throw error
            }
            try area.staging.rename(aside, to: area.staging, arrival.stage)
        }
    }

    /// Trashes a displaced file that is the one the plan saw; any other is an edit and stays beside as a conflict copy.
    func putAside(
        _ name: String, from source: FileDescriptor, expected: ContentHash?, fingerprint: Fingerprint?,
        path: String, in folder: FileDescriptor
    ) throws {
        guard let area else { return }
        let status = try source.status(of: name)
        let isKnown = status.map { status in fingerprint.map { $0.isSameContent(as: Fingerprint(status)) } ?? false }
        if isKnown != true {
            guard let status, status.st_mode & S_IFMT == S_IFREG else {
                if status != nil { try area.discard(name, from: source, as: path) }
                return
            }
            let hash = try ContentReader.hash(of: source.open(name, O_RDONLY | O_NONBLOCK))
            if hash != expected {
                let copy = ConflictName.name(for: LocalPath.split(path).name, loser: hash)
                suspect(path)
                if try moveUnlessTaken(name, from: source, to: folder, copy) {
                    let shown = LocalPath.join(LocalPath.split(path).parent, copy)
                    try store.transaction {
                        try MirrorStore.addConflict($0, copy: shown, of: path, at: WallClock.now())
                    }
                    madeConflicts.append((path, shown))
                    return
                }
                // A copy's name tells its content: the very same text is kept there already.
            }
        }
        try area.discard(name, from: source, as: path)
    }

    func moveUnlessTaken(
        _ name: String, from source: FileDescriptor, to folder: FileDescriptor, _ newName: String
    ) throws(FileError) -> Bool {
        do throws(FileError) {
            try source.moveWithoutReplacing(name, to: folder, newName)
            return true
        } catch {
            guard error.code == EEXIST else { throw error }
            return false
        }
    }

    private func remember(_ done: [Arrival], of all: [Arrival], closing ops: [String]) throws {
        try probe.before(.commit("downloads"))
        try store.transaction { db in
            for arrival in done {
                guard let look = arrival.look else { continue }
                let key = arrival.row.key
                var row = try MirrorStore.row(db, key) ?? MirrorRow(key)
                let incoming = arrival.incoming
                row.local = LocalEntry(
                    name: LocalPath.split(arrival.path).name, isFolder: false,
                    hash: arrival.staged?.isSameContent(as: look.fingerprint) == true ? incoming.hash : nil,
                    fingerprint: look.fingerprint, isRacy: look.isRacy)
                if row.remote?.revision == incoming.revision { row.remote?.hash = incoming.hash }
                row.synced = SyncedEntry(
                    isFolder: false, hash: incoming.hash, size: incoming.size, revision: incoming.revision)
                row.isSwept = false
                try MirrorStore.save(db, row)
            }
            for arrival in all { try MirrorStore.stopExpecting(db, arrival.row.key) }
            try MirrorStore.removeIntents(db, ops)
        }
    }
}
