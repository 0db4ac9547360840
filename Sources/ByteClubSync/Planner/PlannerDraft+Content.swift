import ByteClubCore

extension PlannerDraft {
    /// Brings together the contents of an item that both sides have, wherever it is.
    mutating func merge(_ item: Item, _ content: PlannerContent, isPlaced: Bool) throws {
        guard let local = item.local else { return }
        let place = places[item.id] ?? local.place
        switch content {
        case .same: if isPlaced, !item.isSettled { note(.adopt(item.id), .adopted) }
        case .unread: read(item.id)
        case .upload:
            transfer(.upload(item.id))
            explainContent(item.id, .editedLocally)
        case .download:
            transfer(.download(item.id, place))
            explainContent(item.id, .editedRemotely)
        case .reconcile:
            guard let name = try copyName(of: item, local, beside: place) else {
                // The copy is there already, by an earlier try or by another device.
                transfer(.download(item.id, place))
                return explainContent(item.id, .editedBoth)
            }
            claims[Spot(side: .local, folder: place.parent, key: name.key)] = item.id
            transfer(.reconcile(item.id, conflictName: name))
            explainContent(item.id, .editedBoth)
        }
    }

    /// The conflict name for the disk's content; nil when an entry of such a name has that content and stays.
    private mutating func copyName(of item: Item, _ local: LocalState, beside place: Place) throws -> EntryName? {
        // Nobody has chosen the name under which it waits aside.
        let names = [place.name, local.place.name, item.remote?.place.name].compactMap { $0 }
        let original = names.first { !PlannerAside.isName($0, of: item.id) } ?? place.name
        var number = 1
        while true {
            let name = EntryName(ConflictName.name(for: original.text, loser: local.hash, number: number))
            if try isFree(name, in: place.parent, for: item.id) { return name }
            if item.remote?.hash != nil, try isKept(local.hash, under: name, in: place.parent) { return nil }
            number += 1
        }
    }

    /// Whether a content is that of an entry under this name, and nothing is to become of that entry.
    private mutating func isKept(_ hash: ContentHash?, under name: EntryName, in folder: ItemID) throws -> Bool {
        for side in [Side.local, .remote] {
            for holder in try view.children(of: folder, key: name.key, on: side) where !holder.isExcluded {
                let found = side == .local ? holder.local?.hash : holder.remote?.hash
                if let found, found == hash, try freezer(of: holder) == nil {
                    switch holder.intent {
                    case .create, .merge(nil, .same): return true
                    default: continue
                    }
                }
            }
        }
        return false
    }
}
