@testable import ByteClubSync

/// What was done to folders and may not have reached the disk yet, in order.
///
/// Each step reaches the disk whole or not at all, and only with those before it that it builds upon: on the same name,
/// the same file, or the same inode number.
struct SimulatedJournal {
    /// One entry of a folder that a step puts, or takes away.
    struct Edit {
        let folder: SimulatedNode
        let name: EntryName
        let node: SimulatedNode?
        let removed: SimulatedNode?
        var isDecodable = true

        var slot: Slot { Slot(folder: ObjectIdentifier(folder), name: name) }

        func apply() {
            SimulatedNode.put(node, name, isDecodable: isDecodable, into: &folder.durableEntries)
        }
    }

    struct Slot: Hashable {
        let folder: ObjectIdentifier
        let name: EntryName
    }

    struct Step {
        let number: Int
        let edits: [Edit]
        /// The step that freed the inode number which this one uses.
        let after: Int?
    }

    private(set) var steps: [Step] = []
    private var count = 0

    /// Adds a step and tells its number.
    mutating func add(_ edits: [Edit], after: Int? = nil) -> Int {
        count += 1
        steps.append(Step(number: count, edits: edits, after: after))
        return count
    }

    /// Makes a folder's entries durable, with what they build upon and the folders above.
    mutating func sync(_ folder: SimulatedNode) {
        var wanted = Chosen()
        wanted.folders.insert(ObjectIdentifier(folder))
        var above: SimulatedNode? = folder
        while let node = above {
            wanted.nodes.insert(ObjectIdentifier(node))
            above = node.parent
        }
        var chosen: Set<Int> = []
        for step in steps.reversed() where wanted.touches(step) {
            chosen.insert(step.number)
            wanted.add(step)
        }
        for step in steps where chosen.contains(step.number) { for edit in step.edits { edit.apply() } }
        steps.removeAll { chosen.contains($0.number) }
    }

    /// Makes all durable.
    mutating func syncAll() {
        for step in steps { for edit in step.edits { edit.apply() } }
        steps.removeAll()
    }

    /// Makes durable what chance lets, and forgets the rest.
    mutating func crash(keeping chance: Double, using generator: inout some RandomNumberGenerator) {
        var lost = Chosen()
        for step in steps {
            if !lost.blocks(step), Double.random(in: 0..<1, using: &generator) < chance {
                for edit in step.edits { edit.apply() }
            } else {
                lost.steps.insert(step.number)
                for edit in step.edits {
                    lost.slots.insert(edit.slot)
                    lost.folders.insert(ObjectIdentifier(edit.folder))
                    for node in [edit.node, edit.removed] { node.map { _ = lost.nodes.insert(ObjectIdentifier($0)) } }
                }
            }
        }
        steps.removeAll()
    }

    /// Steps and what they are about.
    private struct Chosen {
        var steps: Set<Int> = []
        var slots: Set<Slot> = []
        var nodes: Set<ObjectIdentifier> = []
        /// Folders in which an entry is concerned.
        var folders: Set<ObjectIdentifier> = []

        /// Whether a step must come along with these.
        func touches(_ step: Step) -> Bool {
            if steps.contains(step.number) { return true }
            return step.edits.contains { edit in
                slots.contains(edit.slot) || folders.contains(ObjectIdentifier(edit.folder))
                    || [edit.node, edit.removed].contains { $0.map { nodes.contains(ObjectIdentifier($0)) } ?? false }
            }
        }

        mutating func add(_ step: Step) {
            if let after = step.after { steps.insert(after) }
            for edit in step.edits {
                slots.insert(edit.slot)
                for node in [edit.node, edit.removed] { node.map { _ = nodes.insert(ObjectIdentifier($0)) } }
                // A folder goes only after all that was in it.
                if let removed = edit.removed, removed.kind == .folder { folders.insert(ObjectIdentifier(removed)) }
            }
        }

        /// Whether a step builds upon one of these.
        func blocks(_ step: Step) -> Bool {
            if let after = step.after, steps.contains(after) { return true }
            return step.edits.contains { edit in
                slots.contains(edit.slot) || nodes.contains(ObjectIdentifier(edit.folder))
                    || [edit.node, edit.removed].contains { $0.map { nodes.contains(ObjectIdentifier($0)) } ?? false }
                    || edit.removed.map { folders.contains(ObjectIdentifier($0)) } ?? false
            }
        }
    }
}
