import ByteClubCore

extension PlannerDraft {
    /// Plans the merge of an item's contents, wherever it is.
    mutating func merge(_ item: Item, _ content: PlannerContent, isPlaced: Bool) throws {
        guard let local = item.local else { return }
        let location = locations[item.id] ?? local.location
        switch content {
        case .same: if isPlaced, !item.isSettled { note(item.id, .adopt, .adopted) }
        case .unread: read(item.id)
        case .upload:
            transfer(.server(item.id, .upload))
            explainContent(item.id, .editedLocally)
        case .download:
            transfer(.disk(item.id, .download(location)))
            explainContent(item.id, .editedRemotely)
        case .resolveContent:
            guard let name = try copyName(of: item, local, beside: location) else {
                // The conflict copy exists already, made by an earlier attempt or by another device.
                transfer(.disk(item.id, .download(location)))
                return explainContent(item.id, .editedBoth)
            }
            claims[Spot(side: .local, folder: location.parent, key: name.key)] = item.id
            transfer(.disk(item.id, .resolveContent(conflictName: name)))
            explainContent(item.id, .editedBoth)
        }
    }

    /// The conflict name for the disk's content; nil when an entry of that name has that content and stays.
    private mutating func copyName(of item: Item, _ local: LocalState, beside location: Location) throws -> EntryName? {
        // A temporary name is no user's choice.
        let names = [location.name, local.location.name, item.remote?.location.name].compactMap { $0 }
        let original = names.first { !TemporaryName.isName($0, of: item.id) } ?? location.name
        var number = 1
        while true {
            let name = EntryName(ConflictName.name(for: original.text, loser: local.hash, number: number))
            if try isFree(name, in: location.parent, for: item.id) { return name }
            if item.remote?.hash != nil, try isKept(local.hash, under: name, in: location.parent) { return nil }
            number += 1
        }
    }

    /// Whether an entry of this name has this content and is settled.
    private mutating func isKept(_ hash: ContentHash?, under name: EntryName, in folder: ItemID) throws -> Bool {
        for side in [Side.local, .remote] {
            for holder in try view.children(of: folder, key: name.key, on: side) where !holder.isExcluded {
                let found = side == .local ? holder.local?.hash : holder.remote?.hash
                if let found, found == hash, try blockingAncestor(of: holder) == nil {
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
