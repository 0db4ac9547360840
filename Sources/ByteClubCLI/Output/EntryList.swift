import ByteClubCore

/// Entries of a folder; as JSON an array of ``EntryObject``s.
struct EntryList: CommandResult {
    /// The entries in the order in which they are printed.
    var entries: [Metadata]
    /// The folder below which they are named.
    var folder: RemotePath
    /// Which date is shown.
    var dates = EntryDate.stored

    /// Name, size and date in columns that fit the terminal; elsewhere separated by tabs, in bytes and RFC 3339.
    func text(_ style: TextStyle) -> String {
        let rows = entries.map { entry in
            let name = entry.path.name(below: folder) + (entry.isFolder ? "/" : "")
            let size = entry.isDeleted ? "deleted" : entry.isFolder ? "" : style.size(entry.bytes)
            return [name, size, style.date(dates.of(entry))]
        }
        return style.list(rows, .left, .right, .left)
    }

    func encode(to encoder: any Encoder) throws { try entries.map { EntryObject($0) }.encode(to: encoder) }
}

/// A date of an entry.
enum EntryDate: Sendable {
    /// When the server made the version.
    case stored
    /// When the file was last changed where it came from, as far as that was told.
    case file

    /// The date; nil where there is none.
    func of(_ entry: Metadata) -> APIDate? {
        switch self {
        case .stored: entry.modified
        case .file: entry.clientModified ?? entry.modified
        }
    }
}

/// The versions of a note or a photo; as JSON an array of ``EntryObject``s.
struct VersionList: CommandResult {
    /// The versions, newest first.
    var versions: [Metadata]

    /// Version, size, date and author in columns, as those of ``EntryList``.
    func text(_ style: TextStyle) -> String {
        let rows = versions.map { version in
            let size = version.isDeleted ? "deleted" : style.size(version.bytes)
            return [
                version.rev?.description ?? "", size, style.date(version.modified),
                style.member(version.modifier?.displayName),
            ]
        }
        return style.list(rows, .left, .right, .left, .left)
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

extension TextStyle {
    /// A number of bytes: rounded for people, exact for programs.
    func size(_ bytes: Int64) -> String { columns == nil ? String(bytes) : HumanSize.shown(bytes) }

    /// A date: the local clock's for people, RFC 3339 in UTC for programs.
    func date(_ date: APIDate?) -> String {
        guard let date else { return "" }
        return columns == nil ? CalendarTime.utc(date.seconds).rfc3339 : calendar(date.seconds).description
    }

    /// A member's name: at most so much of it on a terminal that the rest of the line has room.
    func member(_ name: String?) -> String {
        guard let name else { return "" }
        return columns == nil ? name : DisplayWidth.shortened(Failure.line(name), to: 24)
    }

    /// Rows in columns that fit the terminal, one of them being shortened; separated by tabs where there is none.
    func list(_ rows: [[String]], _ alignments: Table.Alignment..., shortening column: Int = 0) -> String {
        guard let columns else {
            return rows.map { $0.map(Failure.line).joined(separator: "\t") }.joined(separator: "\n")
        }
        var table = Table(alignments)
        let others = alignments.indices.filter { $0 != column }
            .reduce(0) { sum, other in sum + 2 + (rows.map { DisplayWidth.of($0[other]) }.max() ?? 0) }
        let room = max(12, columns - others)
        table.rows = rows.map { row in
            var row = row
            row[column] = DisplayWidth.shortened(Failure.line(row[column]), to: room)
            return row
        }
        return table.text
    }
}
