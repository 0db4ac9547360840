import ByteClubCore

/// Entries of a folder; as JSON an array of the protocol's metadata objects.
struct EntryList: CommandResult {
    /// The entries in the order in which they are printed.
    var entries: [Metadata]

    /// The files among a folder's children, by name.
    static func files(of folder: Metadata?, where isWanted: (Metadata) -> Bool = { _ in true }) -> EntryList {
        let files = (folder?.contents ?? []).filter { !$0.isFolder && !$0.isDeleted && isWanted($0) }
        return EntryList(entries: files.sorted { $0.path.key < $1.path.key })
    }

    /// Name, size and date in columns.
    func text(_ style: TextStyle) -> String {
        var table = Table(.left, .right, .left)
        for entry in entries {
            let date = entry.modified.map { style.calendar($0.seconds).description } ?? ""
            table.rows.append([entry.path.name, HumanSize.text(entry.bytes), date])
        }
        return table.text
    }

    func encode(to encoder: any Encoder) throws { try entries.encode(to: encoder) }
}

/// The versions of a note or a photo; as JSON an array of the protocol's metadata objects.
struct VersionList: CommandResult {
    /// The versions, newest first.
    var versions: [Metadata]

    /// Version, size and date in columns.
    func text(_ style: TextStyle) -> String {
        var table = Table(.left, .right, .left)
        for version in versions {
            let date = version.modified.map { style.calendar($0.seconds).description } ?? ""
            let size = version.isDeleted ? "deleted" : HumanSize.text(version.bytes)
            table.rows.append([version.rev?.description ?? "", size, date])
        }
        return table.text
    }

    func encode(to encoder: any Encoder) throws { try versions.encode(to: encoder) }
}

/// One change of a note or a photo; as JSON the protocol's metadata object.
struct EntryChange: CommandResult {
    /// What was done, as in `saved`.
    var verb: String
    /// The entry as it is now.
    var entry: Metadata

    func text(_ style: TextStyle) -> String { Failure.line("\(verb) '\(entry.path.name)'") }

    func encode(to encoder: any Encoder) throws { try entry.encode(to: encoder) }
}
