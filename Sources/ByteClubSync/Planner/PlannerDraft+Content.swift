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

    /// The conflict name for the disk's content; nil when a conflict copy has that content and stays.
    private mutating func copyName(of item: Item, _ local: LocalState, beside location: Location) throws -> EntryName? {
        // A temporary name is no user's choice.
        let names = [location.name, local.location.name, item.remote?.location.name].compactMap { $0 }
        let original = names.first { !TemporaryName.isName($0, of: item.id) } ?? location.name
        if item.remote?.hash != nil, try isKept(local.hash, of: original, in: location.parent) { return nil }
        // Without a merge base, as after a server was set back, the author is unknown: others may have the same.
        let stamp = naming.stamp(local.stat, isOwn: item.synced != nil)
        return try freeName(in: location.parent, for: item.id, besides: names) {
            ConflictName.name(for: original.text, stamp, number: $0)
        }
    }

    /// Whether a conflict copy of a name has this content and is settled.
    private mutating func isKept(_ hash: ContentHash?, of name: EntryName, in folder: ItemID) throws -> Bool {
        try copies(in: folder).contains { copy in
            guard copy.hash == hash, ConflictName.isCopy(copy.name, of: name.text),
                try blockingAncestor(of: copy.item) == nil
            else { return false }
            switch copy.item.intent {
            case .create, .merge(nil, .same): return true
            default: return false
            }
        }
    }

    private mutating func copies(in folder: ItemID) throws -> [(name: String, hash: ContentHash, item: Item)] {
        if let known = knownCopies[folder] { return known }
        var copies: [(name: String, hash: ContentHash, item: Item)] = []
        for side in [Side.local, .remote] {
            for item in try view.children(of: folder, on: side) where !item.isExcluded {
                guard let name = item.location(on: side)?.name.text, ConflictName.isCopy(name),
                    let hash = side == .local ? item.local?.hash : item.remote?.hash
                else { continue }
                copies.append((name, hash, item))
            }
        }
        knownCopies[folder] = copies
        return copies
    }
}
