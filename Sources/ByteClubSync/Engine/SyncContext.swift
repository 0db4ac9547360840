import ByteClubCore

/// The state that the workers of one session share: the trees, the mirror's root and the environment.
///
/// It decides nothing.
final class SyncContext {
    let configuration: SyncConfiguration
    let environment: SyncEnvironment
    let store: any TreeStore
    let root: any DiskFolder
    /// Open folders of the mirror.
    let handles: FolderHandles
    /// Whether folders are watched as they are scanned: then new ones are scanned once they are there.
    let isWatching: Bool
    /// The rules that decided last, for the log.
    private var rules: [ItemID: Rule] = [:]
    /// The item for which the disk had no room last.
    private var unplaced: ItemID?

    init(
        _ configuration: SyncConfiguration, _ environment: SyncEnvironment, store: any TreeStore, root: any DiskFolder,
        isWatching: Bool
    ) {
        self.configuration = configuration
        self.environment = environment
        self.store = store
        self.root = root
        self.isWatching = isWatching
        handles = FolderHandles(root: root, tree: store)
    }

    /// How conflict copies are named.
    var naming: ConflictNaming { ConflictNaming(of: configuration.memberName) }

    /// Up to how many bytes a file travels in a group.
    ///
    /// When rates are limited, every file that is larger than a note travels alone, so that the limits hold.
    var groupedBytes: Int64 {
        configuration.isUnlimited
            ? max(environment.groupedBytes, SyncBatch.maximumInlineBytes) : SyncBatch.maximumInlineBytes
    }

    /// The time of day in seconds since 1970.
    var seconds: Int64 { environment.disk.now() / 1_000_000_000 }

    /// The time of day, for contents that are made now.
    var now: FileTime { FileTime(nanoseconds: environment.disk.now()) }

    /// Remembers which rules decided, for the log of the operations that follow.
    func decided(_ more: [ItemID: Rule]) {
        if rules.count > 16_384 { rules = [:] }
        rules.merge(more) { $1 }
    }

    /// The rule that decided about an item last.
    func rule(of item: ItemID) -> Rule? { rules[item] }

    /// Logs what has happened to an item; to be called in a transaction.
    ///
    /// - Returns: The event, to be emitted after the transaction.
    /// - Throws: The store's errors.
    func log(
        _ kind: SyncEvent.Kind, _ id: ItemID, from: String? = nil, bytes: Int64? = nil, copy: String? = nil
    ) throws -> SyncEvent {
        let path = try store.shownPath(of: id)
        try log(kind, path, rule: rules[id]?.rawValue, from.map { "from \($0)" } ?? copy)
        return SyncEvent(kind, path: path, from: from, bytes: bytes, copy: copy)
    }

    /// Logs an event.
    func log(_ kind: SyncEvent.Kind, _ path: String, rule: String? = nil, _ detail: String? = nil) throws {
        try store.log(LogRecord(at: seconds, path: path, event: kind.rawValue, rule: rule, detail: detail))
    }

    /// How many files or folders are synced one by one rather than with their whole file system.
    static let fewFiles = 4

    /// Whether the disk has room for so many bytes of some items beyond the reserve.
    ///
    /// Otherwise one item is refused; while it waits, later ones are not refused as well: a full disk is one problem.
    func hasRoom(for bytes: Int64, _ ids: [ItemID], _ report: inout SyncReport) throws -> Bool {
        let (free, total) = try root.room()
        // On a small disk the reserve would be everything.
        let reserve = min(configuration.diskReserve, total / 50)
        if free - bytes >= reserve { return true }
        let again = ids.first { $0 == unplaced }
        if again == nil, let unplaced, try store.item(unplaced)?.isSettled == false { return false }
        guard let id = again ?? ids.first else { return false }
        unplaced = id
        report.refuse(
            id,
            "not enough disk space for \(HumanSize.shown(bytes)): free \(HumanSize.shown(bytes + reserve - free)) more",
            .lasting)
        return false
    }
}
