import ByteClubCore

/// A content that is about to come into its place: told to the database before, so that an engine that is stopped in
/// between knows its own work again, whatever the server does meanwhile.
struct Arriving: Hashable, Sendable {
    let item: ItemID
    let place: Place
    let hash: ContentHash
    let revision: Int64

    init(_ incoming: Incoming) {
        item = incoming.item
        place = incoming.place
        hash = incoming.hash
        revision = incoming.revision
    }

    /// One line of the database's value.
    var text: String { "\(item.number) \(place.parent.number) \(revision) \(hash) \(place.name.text)" }

    /// Reads a line; nil when it is none.
    init?(_ text: Substring) {
        let parts = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, let item = Int64(parts[0]), let parent = Int64(parts[1]),
            let revision = Int64(parts[2]),
            let hash = ContentHash(String(parts[3]))
        else { return nil }
        self.item = ItemID(item)
        place = Place(ItemID(parent), EntryName(String(parts[4])))
        self.revision = revision
        self.hash = hash
    }
}

extension Mirror {
    /// Notes what is about to come into its place.
    ///
    /// A name with a line break is left out: it is looked at like any other.
    func note(arriving incoming: [Incoming]) throws {
        for one in incoming where !one.place.name.text.utf8.contains(10) { arriving[one.item] = Arriving(one) }
        try keepArriving()
    }

    /// Notes that nothing more is to be known about some of it.
    func settle(arriving items: [ItemID]) throws {
        if arriving.isEmpty { return }
        for item in items { arriving[item] = nil }
        try keepArriving()
    }

    private func keepArriving() throws {
        let lines = arriving.values.sorted { $0.item < $1.item }.map(\.text)
        try store.setMeta(.arriving, lines.isEmpty ? nil : lines.joined(separator: "\n"))
    }

    /// Takes for synced what had come into its place before the engine was stopped.
    func recognizeArrived() throws {
        guard let text = try store.meta(.arriving) else { return }
        var found: [(arrived: Arriving, look: DiskLook)] = []
        for line in text.split(separator: "\n") {
            guard let one = Arriving(line), let item = try store.item(one.item), !item.isFolder,
                item.local?.hash != one.hash, let folder = try? folder(one.place.parent),
                let file = try? folder.open(one.place.name.text), let look = try? file.look(),
                try Scanner.hash(file) == one.hash
            else { continue }
            found.append((one, look))
        }
        try store.transaction(durably: true) {
            for (one, look) in found {
                guard var item = try store.item(one.item) else { continue }
                try unseal([one.place.parent])
                item.local = LocalState(
                    place: one.place, isFolder: false, hash: one.hash, size: look.fingerprint.size, look: look)
                item.synced = SyncedState(
                    place: item.synced?.place ?? one.place,
                    remoteName: item.synced.map { $0.remoteName }
                        ?? item.remote.flatMap { one.place.name.unless($0.place.name) },
                    isFolder: false, hash: one.hash, size: look.fingerprint.size, revision: one.revision)
                try store.save(item)
            }
            try store.setMeta(.arriving, nil)
        }
    }
}
