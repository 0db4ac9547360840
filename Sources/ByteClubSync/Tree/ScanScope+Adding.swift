extension ScanScope {
    /// This part of the mirror and some folders more.
    func adding(_ more: Set<ItemID>) -> ScanScope {
        switch self {
        case .everything: .everything
        case .folders(let folders): .folders(folders.union(more))
        }
    }

    /// Whether there is nothing to look at.
    var isEmpty: Bool { self == .folders([]) }
}
