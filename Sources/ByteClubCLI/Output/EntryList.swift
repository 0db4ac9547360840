import ByteClubCore

/// Entries of a folder; as JSON an array of ``EntryObject``s.
struct EntryList: CommandResult {
    /// The entries in the order in which they are printed.
    var entries: [Metadata]
    /// The folder below which they are named.
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
    /// When the file was last changed where it came from, as far as that was told, else when the server got it.
    var fileDate: APIDate? { clientModified ?? modified }

    /// What the clock of the place showed when a photo was taken; of a file that does not say, what `calendar` shows at
    /// ``fileDate``.
    func clock(_ calendar: (Int64) -> CalendarTime) -> APIDate? {
        photoInfo?.taken?.clock ?? fileDate.map { APIDate(seconds: calendar($0.seconds).secondsAsUTC) }
    }
}

/// The versions of a note or a photo; as JSON an array of ``EntryObject``s.
struct VersionList: CommandResult {
    /// The versions, newest first.
    var versions: [Metadata]
    var isVisible: Bool { true }

    /// Version, size, date and author in columns, as those of ``EntryList``.
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

/// One change of a note or a photo; as JSON an ``EntryObject``.
struct EntryChange: CommandResult {
    /// What was done, as in `saved`.
    var verb: String
    /// The entry as it is now.
    var entry: Metadata
    /// The folder below which it is named.
    var folder: RemotePath

    func text(_ style: TextStyle) -> String { Failure.line("\(verb) '\(entry.path.name(below: folder))'") }

    func encode(to encoder: any Encoder) throws { try EntryObject(entry).encode(to: encoder) }
}
