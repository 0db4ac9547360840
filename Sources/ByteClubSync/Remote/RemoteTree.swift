import ByteClubCore

/// The server's side of the trees: its paths, and the order of its revisions.
final class RemoteTree {
    let context: SyncContext
    let remote: any Remote
    let scanner: Scanner
    /// Whether the server's revisions are ordered.
    let ordersRevisions: Bool

    private var store: any TreeStore { context.store }
    private var configuration: SyncConfiguration { context.configuration }

    init(_ context: SyncContext, _ remote: any Remote, _ scanner: Scanner, ordersRevisions: Bool) {
        self.context = context
        self.remote = remote
        self.scanner = scanner
        self.ordersRevisions = ordersRevisions
    }

    /// Makes the next pull read the server's whole state, since the tree lacks entries that no change would list.
    func restartFeed(_ report: inout SyncReport) throws {
        try store.setMeta(.cursor, nil)
        report.distrustFeed(.brokenTree)
    }

    /// The server's metadata of a path; nil when it never existed.
    func metadata(at path: RemotePath) async throws(RemoteError) -> Metadata? {
        do {
            return try await remote.metadata(at: path)
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    // MARK: Revisions

    /// The order of a revision and one that was seen before.
    enum RevisionOrder {
        case same
        case earlier
        case later
        /// They differ, or one is missing, and the server gives no order.
        case unknown
    }

    /// The order of a revision that the server reports now and one in the tree, which may be another server's.
    func order(of reported: Revision?, against seen: Revision?) -> RevisionOrder {
        guard let reported else { return .unknown }
        if reported == seen { return .same }
        guard ordersRevisions, let new = JournalRevision(reported), let seen, let old = JournalRevision(seen),
            old.namespace == new.namespace
        else { return .unknown }
        return new < old ? .earlier : .later
    }

    // MARK: Paths

    /// The path of an item on the server.
    ///
    /// - Throws: A transient ``RemoteError`` when the remote tree is broken: then a full pass is started.
    func path(of id: ItemID, _ report: inout SyncReport) throws -> RemotePath {
        var names: [String] = []
        var next = id
        while next != .root {
            guard names.count < NameRules.maximumDepth, let location = try store.item(next)?.remote?.location else {
                try restartFeed(&report)
                throw RemoteError(
                    .serverFault, "a folder is missing in the mirror's copy of the server's tree; reading it again")
            }
            names.append(location.name.text)
            next = location.parent
        }
        return try names.reversed().reduce(configuration.remoteRoot) { try $0.appending($1) }
    }

    /// The path of a place on the server.
    func path(of location: Location, _ report: inout SyncReport) throws -> RemotePath {
        try path(of: location.parent, &report).appending(location.name.text)
    }

    /// Whether the server has a folder.
    func isOnServer(_ folder: ItemID) throws -> Bool { try folder == .root || store.item(folder)?.remote != nil }

    /// The item that the server has at a path by its names' keys; nil when it has none.
    func item(at keys: [String]) throws -> Item? {
        var parent = ItemID.root
        var found: Item?
        for key in keys {
            found = try store.children(of: parent, key: key, on: .remote).first
            guard let found else { return nil }
            parent = found.id
        }
        return found
    }
}
