import ByteClubCore

/// A name as one side has it, with the key under which letter case and composition do not count.
struct EntryName: Sendable, CustomStringConvertible {
    /// The bytes as that side has them.
    let text: String
    /// The name in NFC and folded to lower case: names of one folder with equal keys are the same name to the server.
    let key: String

    init(_ text: String) {
        self.text = text
        key = PathKey.fold(text)
    }

    /// Creates a name whose key is known already.
    init(_ text: String, key: String) {
        self.text = text
        self.key = key
    }

    var description: String { text }
}

extension EntryName: Hashable {
    /// Equal to the byte: `é` in one part is another name than `é` in two.
    static func == (left: EntryName, right: EntryName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// The location of an entry: its folder and its name there.
struct Location: Hashable, Sendable {
    var parent: ItemID
    var name: EntryName

    init(_ parent: ItemID, _ name: EntryName) {
        self.parent = parent
        self.name = name
    }

    /// Whether the server would take both for the same location.
    func isSameKey(as other: Location) -> Bool { parent == other.parent && name.key == other.name.key }
}
