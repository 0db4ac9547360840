public import ByteClubCore

extension SyncEngine {
    /// Deselects a folder: its files are removed from this disk once the server has all of them, and stay on the
    /// server.
    ///
    /// `path` is relative to the mirror's root.
    ///
    /// - Throws: ``SyncError`` with the code `configuration` for a mirror that was never synced, or its root.
    public static func deselect(_ path: String, of configuration: SyncConfiguration) throws(SyncError) {
        try change(path, configuration) { selection, key throws(SyncError) in selection.leaveOut(key) }
    }

    /// Selects a deselected folder again: the next sync downloads its files.
    ///
    /// - Throws: ``SyncError`` with the code `configuration` when a folder above it is left out.
    public static func select(_ path: String, of configuration: SyncConfiguration) throws(SyncError) {
        try change(path, configuration) { selection, key throws(SyncError) in
            if !selection.takeIn(key) {
                throw SyncError(.configuration, "a folder above '\(path)' is excluded; select that one")
            }
        }
    }

    /// The deselected folders, as path keys relative to the mirror's root, without a leading slash.
    ///
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be read.
    public static func deselected(of configuration: SyncConfiguration) throws(SyncError) -> [String] {
        let selection = try configuration.read { store in try Selection(store) } ?? Selection()
        return selection.keys.map { String($0.string.dropFirst()) }.sorted()
    }

    private static func change(
        _ path: String, _ configuration: SyncConfiguration,
        _ change: @Sendable (inout Selection, PathKey) throws(SyncError) -> Void
    ) throws(SyncError) {
        let names = path.split(separator: "/").filter { $0 != "." }
        if names.isEmpty || names.contains("..") {
            throw SyncError(.configuration, "'\(path)' is not a folder in the mirror")
        }
        let key = PathKey(folded: "/" + PathKey.fold(names.joined(separator: "/")))
        let isKnown: Void? = try configuration.change { store in
            var selection = try Selection(store)
            try change(&selection, key)
            try selection.save(in: store)
        }
        if isKnown == nil {
            throw SyncError(.configuration, "'\(configuration.directory)' was never synced; sync it first")
        }
    }
}
