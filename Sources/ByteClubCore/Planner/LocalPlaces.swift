/// Where entries of the server go in the mirror, whose folders may be there in another letter case.
struct LocalPlaces {
    private let local: Tree
    private var made: [PathKey: RemotePath] = [:]

    init(_ local: Tree) {
        self.local = local
    }

    /// The entry with its path as it will be in the mirror: its own name in the folder as that is there.
    ///
    /// Folders must come before what they hold.
    mutating func place(_ remote: Node) -> Node {
        var placed = remote
        if let there = local[remote.path.key] {
            placed.path = there.path
        } else if let parent = remote.path.key.parent, let folder = made[parent] ?? local[parent]?.path,
            let path = try? folder.appending(remote.path.name)
        {
            placed.path = path
        }
        if remote.isFolder { made[remote.path.key] = placed.path }
        return placed
    }
}
