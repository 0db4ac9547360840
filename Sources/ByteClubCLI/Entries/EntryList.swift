import ByteClubCore

/// Entries of a folder; as JSON an array of ``EntryObject``s.
struct EntryList: CommandResult {
    /// The entries in the order of printing.
    var entries: [Metadata]
    /// The folder that names are relative to.
    var folder: RemotePath
    /// The folders that come first.
    var folders = ListedFolders()
    var isVisible: Bool { true }

    /// Name, size and the file's date in columns that fit the terminal; elsewhere separated by tabs, in bytes and RFC
    /// 3339.
    func text(_ style: TextStyle) -> String {
        var table = TextTable(
            .init("NAME", isShortened: true), .init("SIZE", .right, rank: 2), .init("CHANGED", rank: 1))
        table.rows = entries.map { entry in
            let name = entry.path.name(below: folder) + (entry.isFolder ? "/" : "")
            let size = entry.isDeleted ? "deleted" : entry.isFolder ? "" : style.size(entry.bytes)
            return [name, size, style.date(entry.fileDate)]
        }
        table.rows = folders.rows(for: table, below: folder, style) + table.rows
        return style.list(table)
    }

    func encode(to encoder: any Encoder) throws {
        try (folders.objects + entries.map { EntryObject($0) }).encode(to: encoder)
    }
}

extension Metadata {
    /// When the file was last changed on its original machine, if known, else when the server received it.
    var fileDate: APIDate? { clientModified ?? modified }

    /// The local time at the place where a photo was taken; for files without one, ``fileDate`` in `calendar`.
    func clock(_ calendar: (Int64) -> CalendarTime) -> APIDate? {
        photoInfo?.taken?.clock ?? fileDate.map { APIDate(seconds: calendar($0.seconds).secondsAsUTC) }
    }
}

/// The versions of a note or a photo; as JSON an array of ``EntryObject``s.
struct VersionList: CommandResult {
    /// The versions, newest first.
    var versions: [Metadata]
    var isVisible: Bool { true }

    /// Version, size, date and author in columns, as in ``EntryList``.
    func text(_ style: TextStyle) -> String {
        var table = TextTable(
            .init("VERSION"), .init("SIZE", .right, rank: 1), .init("CHANGED"), .init("BY", isShortened: true))
        table.rows = versions.map { version in
            let size = version.isDeleted ? "deleted" : style.size(version.bytes)
            return [
                version.rev?.description ?? "", size, style.date(version.modified),
                version.modifier?.displayName ?? "",
            ]
        }
        return style.list(table)
    }

    func encode(to encoder: any Encoder) throws { try versions.map { EntryObject($0) }.encode(to: encoder) }
}

/// A change of a note or photo; as JSON an ``EntryObject``.
struct EntryChange: CommandResult {
    /// The action, as in `saved`.
    var verb: String
    /// The entry after the change.
    var entry: Metadata
    /// The folder that names are relative to.
    var folder: RemotePath

    func text(_ style: TextStyle) -> String { Failure.line("\(verb) '\(entry.path.name(below: folder))'") }

    func encode(to encoder: any Encoder) throws { try EntryObject(entry).encode(to: encoder) }
}

/// The folders of a list, printed before its files.
struct ListedFolders: Sendable {
    /// The folders in the order of printing.
    var entries: [Metadata] = []
    /// The number of files below each folder, by its key; nil when unknown.
    var counts: [PathKey: Int]?
    /// The noun for the files, as in `note`.
    var noun = "file"

    /// The number of files below a folder; nil when unknown.
    private func count(_ folder: Metadata) -> Int? { counts.map { $0[folder.path.key] ?? 0 } }

    /// A row for each folder in a table of files: the name with a slash, and on a terminal its count.
    func rows(for table: TextTable, below folder: RemotePath, _ style: TextStyle) -> [[String]] {
        let size = table.columns.firstIndex { $0.title == "SIZE" }
        let others = max(table.columns.count, table.rows.first?.count ?? 0, 1) - 1
        return entries.map { entry in
            var row = [entry.path.name(below: folder) + "/"] + [String](repeating: "", count: others)
            if let size, style.columns != nil, let count = count(entry) {
                row[size] = "\(count) \(noun)\(count == 1 ? "" : "s")"
            }
            return row
        }
    }

    /// An object for each.
    var objects: [EntryObject] {
        entries.map { entry in
            var object = EntryObject(entry)
            object.count = count(entry)
            return object
        }
    }
}
