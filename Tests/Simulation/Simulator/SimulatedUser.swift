import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// Somebody at a machine: writes, saves, renames, moves and deletes, one token a line.
struct SimulatedUser {
    /// What was written by whom, and is still owed: the user has neither replaced nor deleted it.
    private(set) var owed: Set<String> = []
    private(set) var random: SeededGenerator
    private let number: Int
    private let names: [String]
    private var count = 0
    /// Whether some files are too large for a batch.
    private let hasLargeFiles: Bool
    /// How many entries are made at a time now and then; 0 for one alone.
    private let crowd: Int
    /// A line that nobody owes.
    private static let filler = String(repeating: "#", count: Int(SyncBatch.maximumInlineBytes))
    private static let names = ["a", "b", "c", "A", "d.md", "e", "é", "e\u{301}"]
    private static let folders = ["", "", "p", "q", "p/r"]

    /// `isPlain` keeps to names of which no two are the same but for letter case or composition.
    init(_ number: Int, seed: UInt64, isPlain: Bool, hasLargeFiles: Bool, crowd: Int) {
        self.number = number
        self.hasLargeFiles = hasLargeFiles
        self.crowd = crowd
        names = isPlain ? ["a", "b", "c", "d.md", "e"] : Self.names
        random = SeededGenerator(seed: seed)
    }

    /// Does one thing on a disk; tells what.
    mutating func act(on disk: SimulatedDisk) -> String {
        let tree = disk.tree().filter { !Self.isIgnoreFile($0.path) }
        let files = tree.filter { $0.content != nil }.map(\.path)
        let folders = tree.filter { $0.content == nil }.map(\.path)
        if crowd > 0, Int.random(in: 0..<6, using: &random) == 0 { return createMany(on: disk, folders) }
        let choice = Int.random(in: 0..<100, using: &random)
        switch choice {
        case 0..<25: return create(on: disk, folders)
        case 25..<55:
            guard let file = files.randomElement(using: &random) else { return create(on: disk, folders) }
            return edit(file, on: disk)
        case 55..<70:
            guard let file = files.randomElement(using: &random) else { return create(on: disk, folders) }
            return move(file, on: disk, folders)
        case 70..<80:
            guard let folder = folders.randomElement(using: &random) else { return makeFolder(on: disk) }
            return move(folder, on: disk, folders)
        case 80..<90:
            guard let file = files.randomElement(using: &random) else { return create(on: disk, folders) }
            return delete(file, on: disk)
        case 90..<94:
            guard let folder = folders.randomElement(using: &random) else { return makeFolder(on: disk) }
            return delete(folder, on: disk)
        case 94..<97:
            // A backup that is copied over the name it was made of is the very content that others have gone on from.
            let entries = tree.map(\.path).filter { !$0.hasSuffix(".bak") }
            guard let entry = entries.randomElement(using: &random) else { return makeFolder(on: disk) }
            return relocate(entry, on: disk, folders)
        case 97:
            guard let file = files.randomElement(using: &random) else { return makeFolder(on: disk) }
            let isExecutable = disk.node(file)?.isExecutable != true
            return disk.setExecutable(file, isExecutable) ? "chmod \(isExecutable ? "+" : "-")x \(file)" : "nothing"
        default: return makeFolder(on: disk)
        }
    }

    private mutating func token() -> String {
        count += 1
        return "t\(number)-\(count)"
    }

    private mutating func location(_ folders: [String]) -> String {
        let folder = (folders + [""]).randomElement(using: &random) ?? ""
        return LocalPath.join(folder, names.randomElement(using: &random) ?? "a")
    }

    private mutating func create(on disk: SimulatedDisk, _ folders: [String]) -> String {
        let path = location(folders)
        if disk.node(path) != nil { return "nothing: \(path) is there" }
        let lines = (0..<Int.random(in: 1...4, using: &random)).map { _ in token() }
        let isLarge = hasLargeFiles && Int.random(in: 0..<3, using: &random) == 0
        let text = lines.joined(separator: "\n") + "\n" + (isLarge ? Self.filler + "\n" : "")
        guard disk.write(path, text) else { return "cannot create \(path)" }
        owed.formUnion(lines)
        return "create \(path)\(isLarge ? ", large" : ""): \(lines)"
    }

    /// Makes many folders, one in the other or side by side, with a file in each.
    private mutating func createMany(on disk: SimulatedDisk, _ folders: [String]) -> String {
        let top = location(folders)
        if disk.node(top) != nil { return "nothing: \(top) is there" }
        let isDeep = Bool.random(using: &random)
        var (place, made) = (top, [String]())
        for number in 0..<Int.random(in: 2...crowd, using: &random) {
            place = isDeep ? place + (number == 0 ? "" : "/n") : top + "/\(number)"
            if !isDeep, number == 0 { guard disk.makeFolder(top) else { return "cannot mkdir \(top)" } }
            guard disk.makeFolder(place) else { break }
            let line = token()
            if disk.write(place + "/f", line + "\n") { made.append(line) }
        }
        owed.formUnion(made)
        return "create \(made.count) \(isDeep ? "in each other" : "side by side") at \(top)"
    }

    private mutating func edit(_ path: String, on disk: SimulatedDisk) -> String {
        guard let text = disk.text(path) else { return "nothing" }
        var lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { String(Substring($0)) }
        let new = token()
        var removed: String?
        if lines.isEmpty || Bool.random(using: &random) {
            lines.insert(new, at: Int.random(in: 0...lines.count, using: &random))
        } else {
            let index = Int.random(in: 0..<lines.count, using: &random)
            removed = lines[index]
            lines[index] = new
        }
        let whole = lines.joined(separator: "\n") + "\n"
        let isDone: Bool
        switch Int.random(in: 0..<3, using: &random) {
        case 0: isDone = disk.write(path, whole)
        case 1: isDone = disk.save(path, whole)
        default: isDone = disk.save(path, whole, keepsBackup: Int.random(in: 0..<4, using: &random) == 0)
        }
        guard isDone else { return "cannot edit \(path)" }
        if let removed { owed.remove(removed) }
        owed.insert(new)
        return "edit \(path): +\(new) -\((removed ?? "").prefix(9))"
    }

    private mutating func move(_ path: String, on disk: SimulatedDisk, _ folders: [String]) -> String {
        let target = location(folders)
        // Over another file: what that held is replaced by its user.
        let over = disk.node(target).map { _ in lines(below: target, on: disk) } ?? []
        if target.hasPrefix(path + "/") || target == path { return "nothing" }
        guard disk.move(path, to: target) else { return "cannot move \(path) to \(target)" }
        if disk.node(path) == nil { owed.subtract(over) }
        return "move \(path) to \(target)"
    }

    /// Copies something and then deletes the original, as a move between file systems does.
    private mutating func relocate(_ path: String, on disk: SimulatedDisk, _ folders: [String]) -> String {
        let target = location(folders)
        guard disk.copy(path, to: target) else { return "cannot copy \(path) to \(target)" }
        guard disk.delete(path) else { return "copy \(path) to \(target)" }
        return "copy \(path) to \(target) and delete it"
    }

    private mutating func delete(_ path: String, on disk: SimulatedDisk) -> String {
        let gone = lines(below: path, on: disk)
        guard disk.delete(path) else { return "cannot delete \(path)" }
        owed.subtract(gone)
        return "delete \(path)"
    }

    private mutating func makeFolder(on disk: SimulatedDisk) -> String {
        let path = Self.folders.randomElement(using: &random) ?? "p"
        return disk.makeFolder(path) ? "mkdir \(path)" : "cannot mkdir \(path)"
    }

    private func lines(below path: String, on disk: SimulatedDisk) -> Set<String> {
        var found = Set(disk.tree(below: path).compactMap(\.content).flatMap(Self.lines))
        if let content = disk.content(path) { found.formUnion(Self.lines(content)) }
        return found
    }

    /// Whether it is an ignore file, or a copy of one: nobody writes text into it.
    static func isIgnoreFile(_ path: String) -> Bool { path.hasPrefix(IgnoreRules.fileName) }

    /// The tokens of a content.
    static func lines(_ content: [UInt8]) -> [String] {
        content.split(separator: UInt8(ascii: "\n")).filter { $0.count < filler.utf8.count }.map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Forgets what others have deleted or replaced after they had read it.
    mutating func release(_ tokens: Set<String>) { owed.subtract(tokens) }
}
