import ByteClubCore

@testable import ByteClubSync

/// A file, a folder or something else on a simulated disk.
final class SimulatedNode {
    /// An entry of a folder.
    struct Entry {
        var name: EntryName
        var node: SimulatedNode
        /// Whether the name is UTF-8.
        var isDecodable = true
    }

    /// What it is called; used again as soon as it is free, as inode numbers are.
    let number: Int64
    /// How often the number was used before.
    let generation: Int64
    let kind: DiskKind
    let born: Int64
    var modified: Int64
    var changed: Int64
    /// What is in a file, as a reader finds it.
    var content: [UInt8] = []
    /// What of it has reached the disk for sure.
    var durableContent: [UInt8] = []
    /// Whether all of the content has.
    var isContentDurable = false
    /// What is in a folder, in the order in which it came.
    var entries: [Entry] = []
    /// What of it has reached the disk for sure.
    var durableEntries: [Entry] = []
    /// Whether a file may be executed.
    var isExecutable = false
    /// How many names it has.
    var links = 0
    /// How many have it open for writing.
    var writers = 0
    /// Whether opening or listing it is refused.
    var isLocked = false
    weak var parent: SimulatedNode?

    init(number: Int64, generation: Int64, kind: DiskKind, at time: Int64) {
        self.number = number
        self.generation = generation
        self.kind = kind
        (born, modified, changed) = (time, time, time)
    }

    /// Where an entry of the name is.
    func index(_ name: EntryName, foldsCase: Bool) -> Int? {
        if let exact = entries.firstIndex(where: { $0.name == name }) { return exact }
        return foldsCase ? entries.firstIndex { $0.name.key == name.key } : nil
    }

    /// Replaces, adds or takes away an entry of a list.
    static func put(_ node: SimulatedNode?, _ name: EntryName, isDecodable: Bool, into entries: inout [Entry]) {
        let location = entries.firstIndex { $0.name == name }
        if let node {
            let entry = Entry(name: name, node: node, isDecodable: isDecodable)
            if let location { entries[location] = entry } else { entries.append(entry) }
        } else if let location {
            entries.remove(at: location)
        }
    }
}
