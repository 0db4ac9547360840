public import ByteClubCore

/// Random batches on a folder, most of whose operations make sense.
public struct RandomBatches: Sendable {
    private var operations = 0

    /// Starts to name operations.
    public init() {}

    /// A batch on a folder whose last changes made these entries.
    public mutating func next(
        on state: some FolderState, nodes: [NodeID], using generator: inout SeededGenerator
    ) throws -> SyncBatch {
        let count = Int.random(in: 1...5, using: &generator)
        var batch = SyncBatch([], isAllOrNothing: count == 2)
        for index in 0..<count {
            operations += 1
            guard let id = OperationID("op-\(operations)") else { continue }
            let subject = nodes.randomElement(using: &generator) ?? .root
            let now = try state.current(subject)
            let action = Self.action(index, subject, now, nodes, using: &generator)
            let condition = Self.condition(now, last: try state.lastRevision(), using: &generator)
            batch.operations.append(SyncOperation(id, action, if: condition))
        }
        return batch
    }

    /// A name, often one that is taken.
    public static func name(using generator: inout SeededGenerator) -> String {
        ["a", "b", "B", "é", "c.md"].randomElement(using: &generator) ?? "a"
    }

    /// The bytes that a batch's content stands for.
    public static func bytes(_ content: SyncOperation.Content) -> [UInt8]? {
        (0...5).lazy.map { [$0] }.first { ContentHasher.hash($0) == content.hash }
    }

    private static func action(
        _ index: Int, _ subject: NodeID, _ now: FolderEntry?, _ nodes: [NodeID],
        using generator: inout SeededGenerator
    ) -> SyncOperation.Action {
        let folder = nodes.randomElement(using: &generator) ?? .root
        let follows = index > 0 && Bool.random(using: &generator)
        let place = SyncOperation.Place(follows ? .operation(index - 1) : .node(folder), name(using: &generator))
        let byte = UInt8.random(in: 0...5, using: &generator)
        let content = SyncOperation.Content(bytes: 1, hash: ContentHasher.hash([byte]))
        return switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1: .create(place, content)
        case 2: .create(place, nil)
        case 3: .edit(subject, content)
        case 4: .undelete(subject, place, now?.isFolder == true ? nil : content)
        case 5, 6: .move(subject, place)
        default: .delete(subject)
        }
    }

    private static func condition(
        _ now: FolderEntry?, last: Int64, using generator: inout SeededGenerator
    ) -> SyncOperation.Condition {
        let isFresh = Int.random(in: 0..<4, using: &generator) > 0
        return switch Int.random(in: 0..<4, using: &generator) {
        case 0: .init(revision: isFresh ? now?.contentRevision : 1)
        case 1: .init(placeRevision: isFresh ? now?.placeRevision : 1)
        case 2: .init(seen: isFresh ? last : last / 2)
        default: .init()
        }
    }
}
