import ByteClubCore

/// The decision about an item by its own three states, regardless of others.
enum PlannerIntent: Hashable {
    /// Nothing is to be done.
    case settled
    /// Both sides have lost it.
    case forget
    /// One side has lost it, the other changed it.
    case keep
    /// One side has lost it, and the file must be read to know whether it was changed.
    case read
    /// It is to be deleted on this side, if everything in it is deleted as well.
    case delete(Side)
    /// It is to be made on this side.
    case create(Side)
    /// Both sides have it: on which side it has to move, and whose content wins.
    case merge(move: Side?, content: PlannerContent)
}

/// The decision about the contents of an item that both sides have.
enum PlannerContent: Hashable {
    case same, upload, download, resolveContent, unread
}

extension Item {
    /// The decision about the item by itself.
    var intent: PlannerIntent {
        switch (local, remote, synced) {
        case (nil, nil, nil): .settled
        case (nil, nil, _): .forget
        case (let local?, nil, nil): local.isLeftover ? .settled : .create(.remote)
        case (nil, _, nil): .create(.local)
        case (nil, _, _): isEditedRemotely || isPlacedRemotely ? .keep : .delete(.remote)
        case (let local?, nil, _):
            if isPlacedLocally {
                .keep
            } else if !local.isFolder && local.hash == nil {
                .read
            } else {
                isEditedLocally ? .keep : .delete(.local)
            }
        case (let local?, let remote?, _):
            .merge(move: sideToMove(local, remote), content: content(local, remote))
        }
    }

    /// Its location on a side.
    func location(on side: Side) -> Location? {
        switch side {
        case .local: local?.location
        case .remote: remote?.location
        }
    }

    /// Whether a user has moved it on disk; a temporary name is no move.
    private var isPlacedLocally: Bool { isMovedLocally && !isTemporary(local?.location) }

    /// Whether a user has moved it on the server; a temporary name is no move.
    var isPlacedRemotely: Bool { isMovedRemotely && !isTemporary(remote?.location) }

    /// Whether a location has a temporary name of the item.
    func isTemporary(_ location: Location?) -> Bool {
        location.map { TemporaryName.isName($0.name, of: id) } ?? false
    }

    /// The side on which it must be moved to the other's location; nil when both agree.
    private func sideToMove(_ local: LocalState, _ remote: RemoteState) -> Side? {
        // Names are equal when they differ in Unicode composition at most.
        let agrees =
            local.location.parent == remote.location.parent && local.location.name.text == remote.location.name.text
        guard synced != nil else {
            if agrees { return nil }
            return isTemporary(remote.location) && !isTemporary(local.location) ? .remote : .local
        }
        switch (isMovedLocally, isMovedRemotely) {
        case (false, false): return nil
        case (true, false): return isTemporary(local.location) ? .local : .remote
        case (false, true): return isTemporary(remote.location) ? .remote : .local
        case (true, true):
            if agrees { return nil }
            return isTemporary(remote.location) && !isTemporary(local.location) ? .remote : .local
        }
    }

    private func content(_ local: LocalState, _ remote: RemoteState) -> PlannerContent {
        if local.isFolder { return .same }
        guard let mine = local.hash else { return .unread }
        let theirs = remote.hash ?? (synced?.revision == remote.revision ? synced?.hash : nil)
        if mine == theirs {
            if !differsInExecutable { return .same }
            if wantedExecutable != local.stat?.isExecutable { return .download }
            // What both sides have edited alike is agreed on before the bit is sent.
            return isEditedRemotely ? .same : .upload
        }
        guard let synced else { return .resolveContent }
        switch (mine != synced.hash, isEditedRemotely) {
        case (true, false): return .upload
        case (false, true): return .download
        case (true, true): return .resolveContent
        case (false, false): return .same
        }
    }
}
