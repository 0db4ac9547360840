import ByteClubCore

extension Explainer {
    /// Notes on an item beside its plan: names that no member chose.
    func notes(on item: Item, _ plan: Plan) throws -> [String] {
        let path = try store.path(of: item)
        var notes: [String] = []
        if let note = try conflictNote(on: path) { notes.append(note) }
        if [item.local?.location, item.remote?.location].contains(where: { $0.map { isTemporary($0, item) } ?? false })
        {
            notes.append("it has a temporary name while entries swap names")
        }
        if plan.rules[item.id] == .nameClash, let holder = try namesakes(of: item).first {
            let other = try store.path(of: holder)
            let isSame = other.utf8.elementsEqual(path.utf8)
            notes.append(
                isSame
                    ? "another entry has the name on the server"
                    : "another entry has the name: the server treats '\(other)' as the same name"
            )
        }
        return notes
    }

    /// Other entries that have an item's name, as the server takes it, on either side.
    func namesakes(of item: Item) throws -> [Item] {
        var found: [Item] = []
        for location in [item.local?.location, item.remote?.location].compactMap(\.self)
        where !location.name.text.isEmpty {
            for side in [Side.local, .remote] {
                for other in try store.children(of: location.parent, key: location.name.key, on: side)
                where other.id != item.id && !found.contains(where: { $0.id == other.id }) {
                    found.append(other)
                }
            }
        }
        return found
    }

    private func isTemporary(_ location: Location, _ item: Item) -> Bool {
        TemporaryName.isName(location.name, of: item.id)
    }

    /// Of which file a path is the conflict copy, or which copy it has.
    private func conflictNote(on path: String) throws -> String? {
        if let copied = try store.conflicts(all: true).first(where: { $0.copy.utf8.elementsEqual(path.utf8) }) {
            return copied.isResolved
                ? "it was kept as a conflict copy of '\(copied.path)', and that conflict is resolved"
                : "it is a conflict copy of '\(copied.path)'; " + advice(copied.path)
        }
        if let open = try store.conflicts(all: false).first(where: { $0.path.utf8.elementsEqual(path.utf8) }) {
            return "another version of it is kept as '\(open.copy)'; " + advice(open.path)
        }
        let (folder, name) = LocalPath.split(path)
        return ConflictName.original(of: name).map {
            "by its name it is a conflict copy of '\(LocalPath.join(folder, $0))', "
                + "but 'byteclub conflicts' has no such conflict on this machine"
        }
    }

    private func advice(_ path: String) -> String { "see \(ShellWord.command("byteclub conflicts show", path))" }
}
