import ByteClubCore

/// The folders of a list, which are shown before its files.
struct ListedFolders: Sendable {
    /// The folders in the order in which they are shown.
    var entries: [Metadata] = []
    /// How many files lie below each, by its key; nil where that is not known.
    var counts: [PathKey: Int]?
    /// What the files are called, as in `note`.
    var noun = "file"

    /// How many files lie below a folder, where that is known.
    private func count(_ folder: Metadata) -> Int? { counts.map { $0[folder.path.key] ?? 0 } }

    /// A row for each in a table of files, named below a folder: the name with a slash, and for people what is in it.
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
