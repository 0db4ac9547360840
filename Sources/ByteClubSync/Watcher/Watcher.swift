import ByteClubFiles
import CLinux
import Glibc
import Synchronization

/// Watches folders by inotify(7); events are hints, verified by scans.
final class Watcher: FolderWatcher {
    /// Nil when the system refuses to watch anything.
    private let inotify: FileDescriptor?
    private let stopper: FileDescriptor
    private let watches = Mutex(Watches())
    private let nudge: Int32
    private let limit: Int
    private let noticed: @Sendable (DiskChange) -> Void

    private static let mask = UInt32(
        IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ONLYDIR | IN_EXCL_UNLINK)

    /// Starts watching on a thread of its own; `noticed` is called there.
    ///
    /// `nudged` is a file that is watched beside the mirror; no more folders than `limit` are.
    init(
        nudged file: String, limit: Int = .max, _ noticed: @escaping @Sendable (DiskChange) -> Void
    ) throws(FileError) {
        self.noticed = noticed
        self.limit = limit
        let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        inotify = number < 0 ? nil : FileDescriptor(owning: number, path: "inotify")
        nudge = number < 0 ? -1 : unsafe inotify_add_watch(number, file, UInt32(IN_ATTRIB))
        let event = eventfd(0, Int32(EFD_CLOEXEC))
        guard event >= 0 else { throw FileError(operation: "watch", path: "the mirror", code: errno) }
        stopper = FileDescriptor(owning: event, path: "event descriptor")
        guard let inotify else { return }
        let code = DetachedThread.start { [self] in run(inotify) }
        if code != 0 { throw FileError(operation: "start", path: "thread", code: code) }
    }

    /// Ends the thread.
    func stop() {
        var one: UInt64 = 1
        _ = unsafe write(stopper.number, &one, 8)
    }

    func add(_ folder: any DiskFolder, _ item: ItemID, isNew: Bool) {
        guard let folder = folder as? LinuxFolder else { return }
        watches.withLock { watches in
            if watches.failure != nil || !isNew && watches.number(item) != nil { return }
            guard let inotify else { return watches.refuse(item, EMFILE) }
            if watches.number(item) == nil, watches.count >= limit { return watches.refuse(item, ENOSPC) }
            let path = "/proc/self/fd/\(folder.descriptor.number)"
            let number = unsafe inotify_add_watch(inotify.number, path, Self.mask)
            if number >= 0 { watches.add(number, item) } else { watches.refuse(item, errno) }
        }
    }

    func remove(_ items: [ItemID]) {
        watches.withLock { watches in
            for item in items {
                if let number = watches.remove(item), let inotify { inotify_rm_watch(inotify.number, number) }
            }
        }
    }

    func unwatched(of folders: Set<ItemID>) -> Set<ItemID> {
        watches.withLock { $0.failure == nil ? $0.refused.intersection(folders) : folders }
    }

    var problem: String? {
        let (refused, watched, code, failure) = watches.withLock {
            ($0.refused.count, $0.count, $0.refusal, $0.failure)
        }
        if let failure {
            let reason = FileError(operation: "watch", path: "folders", code: failure).reason
            return "the folders can no longer be watched and are scanned every few seconds instead: \(reason)"
        }
        if refused == 0 { return nil }
        let remedy =
            switch code {
            case ENOSPC: "raise the limit with 'sysctl fs.inotify.max_user_watches=\(Self.advised(refused + watched))'"
            case EMFILE: "raise the limit with 'sysctl fs.inotify.max_user_instances=1024'"
            default: FileError(operation: "watch", path: "folders", code: code).reason
            }
        return
            "\(refused) of \(refused + watched) folders cannot be watched and are scanned every few seconds instead: "
            + remedy
    }

    /// A limit with room: a power of two, and at least twice as much as the mirror needs.
    private static func advised(_ folders: Int) -> Int {
        var limit = 1 << 16
        while limit < 2 * folders { limit *= 2 }
        return limit
    }

    private func run(_ inotify: FileDescriptor) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var waits = [
                pollfd(fd: inotify.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stopper.number, events: Int16(POLLIN), revents: 0),
            ]
            if unsafe poll(&waits, 2, -1) < 0 {
                if errno == EINTR { continue }
                return fail(errno)
            }
            if waits[1].revents != 0 { return }
            let count = unsafe read(inotify.number, &buffer, buffer.count)
            if count > 0 {
                take(buffer.prefix(count))
            } else if count < 0, errno != EAGAIN, errno != EINTR {
                return fail(errno)
            }
        }
    }

    /// Ends watching after an error of the system; from now on, all folders are scanned instead.
    func fail(_ code: Int32) {
        watches.withLock { $0.failure = code }
        noticed(DiskChange(isLost: true))
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        var change = DiskChange()
        var left: ClosedFiles = [:]
        let header = MemoryLayout<inotify_event>.size
        unsafe bytes.withUnsafeBytes { all in
            var offset = 0
            while offset + header <= all.count {
                let event = unsafe all.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                let name = unsafe all[(offset + header)...].prefix(Int(event.len)).prefix { $0 != 0 }
                offset += header + Int(event.len)
                note(event.wd, event.mask, unsafe String(validating: name, as: UTF8.self), &change, &left)
            }
        }
        // An exchange moves a file in and another one out, under the same name, which the file's scan sees.
        for (folder, names) in left where !names.isSubset(of: change.closed[folder] ?? []) {
            change.begun.insert(folder)
        }
        change.begun.subtract(change.finished)
        if change != DiskChange() { noticed(change) }
    }

    private func note(
        _ number: Int32, _ mask: UInt32, _ name: String?, _ change: inout DiskChange, _ left: inout ClosedFiles
    ) {
        let has = { (bits: Int32) in mask & UInt32(bits) != 0 }
        if mask & (UInt32(IN_Q_OVERFLOW) | UInt32(IN_UNMOUNT)) != 0 { change.isLost = true }
        if number == nudge {
            change.isNudge = true
            return
        }
        let item = watches.withLock { watches in
            defer { if has(Int32(IN_IGNORED)) { watches.end(number) } }
            return watches.item(number)
        }
        guard let item else { return }
        let isFolder = mask & UInt32(IN_ISDIR) != 0
        let isFinished = has(Int32(IN_CLOSE_WRITE)) || has(Int32(IN_MOVED_TO)) || isFolder && has(Int32(IN_CREATE))
        let file = isFolder ? nil : name.flatMap { $0.isEmpty ? nil : EntryName($0) }
        if isFinished, let file {
            change.closed[item, default: []].insert(file)
        } else if has(Int32(IN_MOVED_FROM)), let file {
            left[item, default: []].insert(file)
        } else if isFinished {
            change.finished.insert(item)
        } else {
            change.begun.insert(item)
        }
    }
}

/// Accumulated events of a watcher; they are hints, verified by scans.
struct DiskChange: Hashable, Sendable {
    /// Folders in which a folder was made or moved in: to be scanned now.
    var finished: Set<ItemID> = []
    /// Files that were closed after a write, or moved in: to be scanned now.
    var closed: ClosedFiles = [:]
    /// Folders in which something else has happened, of which more may follow.
    var begun: Set<ItemID> = []
    /// Whether events were lost, so that anything may have changed.
    var isLost = false
    /// Whether the lock file was touched, which asks the engine to read its settings.
    var isNudge = false

    /// The most names and folders in one report; beyond it, the report is that anything may have changed.
    static let mostTold = 4_096

    /// Adds what has happened after it; names mean nothing where anything may have changed.
    mutating func add(_ later: DiskChange) {
        isLost = isLost || later.isLost
        isNudge = isNudge || later.isNudge
        if !isLost {
            finished.formUnion(later.finished)
            begun.formUnion(later.begun)
            for (folder, names) in later.closed { closed[folder, default: []].formUnion(names) }
            isLost = closed.values.reduce(finished.count + begun.count) { $0 + $1.count } > Self.mostTold
        }
        if isLost { (finished, begun, closed) = ([], [], [:]) }
    }

    /// Whether no scan is due before the disk has settled.
    var isOnlyBegun: Bool { closed.isEmpty && finished.isEmpty && !isLost && !isNudge }
}

/// Watches the mirror's folders and posts changes to the session's inbox.
protocol FolderWatcher: AnyObject, Sendable {
    /// Watches a folder, before it is scanned.
    ///
    /// `isNew` means that it may be another folder than the watched one of the item.
    func add(_ folder: any DiskFolder, _ item: ItemID, isNew: Bool)
    /// Stops watching folders that have left the mirror.
    func remove(_ items: [ItemID])
    /// The folders among these that cannot be watched.
    func unwatched(of folders: Set<ItemID>) -> Set<ItemID>
    /// Why changes may be noticed late, and what to do about it, as one line for people; nil while all folders are
    /// watched.
    var problem: String? { get }
}

/// The table of watch descriptors and items; a watch stays with its folder when that is moved.
struct Watches: Sendable {
    /// Folders that the system refused to watch.
    private(set) var refused: Set<ItemID> = []
    /// The error number of the last refusal.
    private(set) var refusal: Int32 = 0
    /// The error number with which the system has ended watching; nil while it watches.
    var failure: Int32?
    private var items: [Int32: ItemID] = [:]
    private var numbers: [ItemID: Int32] = [:]

    /// How many folders are watched.
    var count: Int { numbers.count }

    func item(_ number: Int32) -> ItemID? { items[number] }
    func number(_ item: ItemID) -> Int32? { numbers[item] }

    mutating func add(_ number: Int32, _ item: ItemID) {
        if let other = items[number], other != item { numbers[other] = nil }
        if let old = numbers[item], old != number { items[old] = nil }
        items[number] = item
        numbers[item] = number
        refused.remove(item)
    }

    mutating func refuse(_ item: ItemID, _ code: Int32) {
        if let old = numbers.removeValue(forKey: item) { items[old] = nil }
        refused.insert(item)
        refusal = code
    }

    /// Forgets a watch that the system has ended.
    mutating func end(_ number: Int32) {
        guard let item = items.removeValue(forKey: number) else { return }
        if numbers[item] == number { numbers[item] = nil }
    }

    /// Forgets a folder; the result is its watch, which is to be ended.
    mutating func remove(_ item: ItemID) -> Int32? {
        refused.remove(item)
        guard let number = numbers.removeValue(forKey: item) else { return nil }
        items[number] = nil
        return number
    }
}
