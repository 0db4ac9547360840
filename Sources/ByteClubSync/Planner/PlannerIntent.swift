import ByteClubCore

/// What becomes of an item by its own three sides, whatever is around it.
enum PlannerIntent: Hashable {
    /// Nothing is to be done.
    case settled
    /// Both sides have lost it.
    case forget
    /// One side has lost it, the other changed it.
    case keep
    /// One side has lost it, and nobody knows whether the disk has changed it.
    case read
    /// It is to be deleted on this side, if what is in it goes as well.
    case delete(Side)
    /// It is to be made on this side.
    case create(Side)
    /// Both sides have it: on which side it has to move, and whose content wins.
    case merge(move: Side?, content: PlannerContent)
}

/// What becomes of a content that both sides have.
enum PlannerContent: Hashable {
    case same, upload, download, reconcile, unread
}

extension Item {
    /// What becomes of the item by itself.
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

    /// Where a side shows it.
    func place(on side: Side) -> Place? {
        switch side {
        case .local: local?.place
        case .remote: remote?.place
        }
    }

    /// Whether somebody has moved it on disk; to wait aside is no move.
    private var isPlacedLocally: Bool { isMovedLocally && !isAside(local?.place) }

    /// Whether somebody has moved it on the server; to wait aside is no move.
    var isPlacedRemotely: Bool { isMovedRemotely && !isAside(remote?.place) }

    private func isAside(_ place: Place?) -> Bool {
        place.map { PlannerAside.isName($0.name, of: id) } ?? false
    }

    /// On which side it has to move to the other's place; nil when both agree.
    private func sideToMove(_ local: LocalState, _ remote: RemoteState) -> Side? {
        // Texts are equal when they differ in composition at most.
        let agrees =
            local.place.parent == remote.place.parent && local.place.name.text == remote.place.name.text
        guard synced != nil else {
            if agrees { return nil }
            return isAside(remote.place) && !isAside(local.place) ? .remote : .local
        }
        switch (isMovedLocally, isMovedRemotely) {
        case (false, false): return nil
        case (true, false): return isAside(local.place) ? .local : .remote
        case (false, true): return isAside(remote.place) ? .remote : .local
        case (true, true):
            if agrees { return nil }
            return isAside(remote.place) && !isAside(local.place) ? .remote : .local
        }
    }

    private func content(_ local: LocalState, _ remote: RemoteState) -> PlannerContent {
        if local.isFolder { return .same }
        guard let mine = local.hash else { return .unread }
        let theirs = remote.hash ?? (synced?.revision == remote.revision ? synced?.hash : nil)
        if mine == theirs { return .same }
        guard let synced else { return .reconcile }
        switch (mine != synced.hash, isEditedRemotely) {
        case (true, false): return .upload
        case (false, true): return .download
        case (true, true): return .reconcile
        case (false, false): return .same
        }
    }
}

extension Side {
    /// The other side.
    var other: Side { self == .local ? .remote : .local }
}
