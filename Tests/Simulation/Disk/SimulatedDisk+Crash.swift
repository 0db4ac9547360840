@testable import ByteClubSync

extension SimulatedDisk {
    /// Makes everything durable.
    func syncAll() {
        journal.syncAll()
        for node in nodes() where node.kind == .file {
            node.durableContent = node.content
            node.isContentDurable = true
        }
    }

    /// Cuts the power: what was not synced is lost, kept or torn, as chance has it.
    ///
    /// What was open before cannot be used any more.
    func crash(using generator: inout some RandomNumberGenerator) {
        let chances: [Double] = [0, 0.5, 0.9, 1]
        let chance = chances.randomElement(using: &generator) ?? 0.5
        journal.crash(keeping: chance, using: &generator)
        var numbers: Set<Int64> = []
        var pending = [root]
        while let node = pending.popLast() {
            node.writers = 0
            node.entries = node.durableEntries
            if numbers.insert(node.number).inserted {
                node.links = 1
            } else {
                node.links += 1
                continue
            }
            if node.kind == .folder {
                for entry in node.entries {
                    if entry.node.kind == .folder { entry.node.parent = node }
                    pending.append(entry.node)
                }
            } else if !node.isContentDurable {
                node.content = Self.torn(node, using: &generator)
                node.durableContent = node.content
                node.isContentDurable = true
            }
        }
        restart(with: numbers)
    }

    /// What may be left of content that was not synced.
    private static func torn(_ node: SimulatedNode, using generator: inout some RandomNumberGenerator) -> [UInt8] {
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return node.durableContent
        case 1: return []
        case 2: return [UInt8](repeating: 0, count: node.content.count)
        case 3: return Array(node.content.prefix(node.content.count / 2))
        default: return node.content
        }
    }

    /// All that can be reached from the root.
    func nodes() -> [SimulatedNode] {
        var found: [SimulatedNode] = []
        var pending = [root]
        while let node = pending.popLast() {
            found.append(node)
            pending += node.entries.map(\.node)
        }
        return found
    }
}
