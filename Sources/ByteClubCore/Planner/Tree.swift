/// Observations by key: one side of the mirror as it was last seen, or the state last seen equal on both sides.
public struct Tree: Hashable, Sendable {
    /// The nodes by their keys; the root is never among them.
    public var nodes: [PathKey: Node]

    /// Creates a tree of nodes.
    public init(_ nodes: some Sequence<Node> = []) {
        self.nodes = Dictionary(nodes.map { ($0.path.key, $0) }, uniquingKeysWith: { _, last in last })
    }

    /// The node at a key.
    public subscript(key: PathKey) -> Node? {
        get { nodes[key] }
        set { nodes[key] = newValue }
    }
}
