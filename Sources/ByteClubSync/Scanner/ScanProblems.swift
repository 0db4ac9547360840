/// The problems of single paths that scans have found; the store is written only for changes.
final class ScanProblems {
    /// A path as the disk has it: `é` in one part is another one than `é` in two.
    private struct Path: Hashable {
        let text: String

        init(_ text: String) { self.text = text }

        static func == (left: Path, right: Path) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }
    }

    /// The message for a folder that is the root of another mirror.
    static let ownMirror = "it is a mirror itself and is not synced; move it out of this one"

    private let store: any TreeStore
    private var byFolder: [Path: [Path: ProblemRecord]] = [:]
    private(set) var count = 0
    /// Whether any problem was added or removed.
    private(set) var hasChanged = false

    /// Loads the problems in the database, without those of moves to unsynced names.
    init(_ store: any TreeStore, _ known: [ProblemRecord], besides moves: UnsyncedMoves) {
        self.store = store
        for problem in known where problem.isFromScan && !moves.has(problem.path) { keep(problem) }
    }

    /// Moves the problems of a folder that the engine has moved, and those below it.
    static func move(_ old: String, to new: String, in store: any TreeStore) throws {
        for problem in try store.problems(below: old) where problem.isFromScan {
            var moved = problem
            moved.path = LocalPath.moved(problem.path, from: old, to: new)
            try store.setProblem(nil, path: problem.path)
            try store.setProblem(moved, path: moved.path)
        }
    }

    /// Whether a scan has found something wrong with a path.
    func has(_ path: String) -> Bool { count > 0 && byFolder[Self.folder(of: path)]?[Path(path)] != nil }

    /// Records the problem of a path.
    func set(_ path: String, _ item: ItemID?, _ message: String) throws {
        let problem = ProblemRecord(path: path, item: item, message: message, isFromScan: true)
        if byFolder[Self.folder(of: path)]?[Path(path)] == problem { return }
        try store.setProblem(problem, path: path)
        hasChanged = true
        keep(problem)
    }

    /// Notes that nothing is wrong with a path any more.
    func clear(_ path: String) throws {
        let folder = Self.folder(of: path)
        guard byFolder[folder]?.removeValue(forKey: Path(path)) != nil else { return }
        if byFolder[folder]?.isEmpty == true { byFolder[folder] = nil }
        count -= 1
        hasChanged = true
        try store.setProblem(nil, path: path)
    }

    /// Notes that nothing is wrong with an item any more, under whatever path that was.
    func clear(of item: ItemID) throws {
        for problem in byFolder.values.flatMap(\.values) where problem.item == item { try clear(problem.path) }
    }

    /// Clears the problems of all other entries of a folder.
    func keepOnly(_ paths: Set<String>, in folder: String) throws {
        guard let known = byFolder[Path(folder)] else { return }
        let kept = Set(paths.map { Path($0) })
        for path in known.keys.filter({ !kept.contains($0) }).map(\.text).sorted() { try clear(path) }
    }

    /// Moves the problems of a folder and below it to another path, or removes them.
    func move(_ old: String, to new: String?) throws {
        let moved = byFolder.values.flatMap(\.values).filter { LocalPath.isWithin($0.path, old) }
        for problem in moved.sorted(by: { $0.path < $1.path }) {
            try clear(problem.path)
            guard let new else { continue }
            try set(LocalPath.moved(problem.path, from: old, to: new), problem.item, problem.message)
        }
    }

    /// The folders with problems that are not in the tree: they were excluded or removed with everything below them.
    func strays() throws -> [String] {
        try byFolder.keys.map(\.text).filter { folder in
            // A file of the name may still be in the tree beside the folder that has replaced it.
            try store.item(at: folder, on: .local) { namesakes, name in
                namesakes.first { $0.isFolder && $0.local?.location.name == name }
            } == nil
        }.sorted()
    }

    private func keep(_ problem: ProblemRecord) {
        let folder = Self.folder(of: problem.path)
        if byFolder[folder, default: [:]].updateValue(problem, forKey: Path(problem.path)) == nil { count += 1 }
    }

    private static func folder(of path: String) -> Path { Path(LocalPath.split(path).parent) }
}

/// Finds the problems by which mirror and server differ; each folder is looked up once.
struct ProblemReview {
    private let store: any TreeStore
    /// The items of folders by their paths as the disk has them, of both sides when they are two.
    private var folders: [[UInt8]: [ItemID]] = [:]

    init(_ store: any TreeStore) { self.store = store }

    /// Whether mirror and server differ by a problem.
    ///
    /// Entries of a type that is never synced, such as links and other mirrors, do not count, unless the server has an
    /// entry of the name.
    mutating func keepsApart(_ problem: ProblemRecord) throws -> Bool {
        guard problem.isFromScan else { return true }
        if let item = problem.item {
            guard problem.message == ScanProblems.ownMirror, let known = try store.item(item) else { return true }
            return known.remote != nil || known.synced != nil
        }
        let (parent, text) = LocalPath.split(problem.path)
        let name = EntryName(text)
        return try items(of: parent).contains { folder in
            try store.children(of: folder, key: name.key, on: .remote).contains { $0.remote?.location.name == name }
        }
    }

    private mutating func items(of folder: String) throws -> [ItemID] {
        let path = Array(folder.utf8)
        if let known = folders[path] { return known }
        let found = try store.items(at: folder).map(\.id)
        folders[path] = found
        return found
    }
}
