/// The problems of single paths that scans have found; the store is written only for changes.
final class ScanProblems {
    private let store: any TreeStore
    private var byFolder: [String: [String: ProblemRecord]] = [:]
    private(set) var count = 0
    /// Whether any problem was added or removed.
    private(set) var hasChanged = false

    init(_ store: any TreeStore) throws {
        self.store = store
        for problem in try store.problems() where problem.isFromScan { keep(problem) }
    }

    /// Whether a scan has found something wrong with a path.
    func has(_ path: String) -> Bool { byFolder[LocalPath.split(path).parent]?[path] != nil }

    /// Notes what is wrong with a path.
    func set(_ path: String, _ item: ItemID?, _ message: String) throws {
        let problem = ProblemRecord(path: path, item: item, message: message, isFromScan: true)
        if byFolder[LocalPath.split(path).parent]?[path] == problem { return }
        try store.setProblem(problem, path: path)
        hasChanged = true
        keep(problem)
    }

    /// Notes that nothing is wrong with a path any more.
    func clear(_ path: String) throws {
        guard byFolder[LocalPath.split(path).parent]?.removeValue(forKey: path) != nil else { return }
        count -= 1
        hasChanged = true
        try store.setProblem(nil, path: path)
    }

    /// Notes that nothing is wrong with an item any more, under whatever path that was.
    func clear(of item: ItemID) throws {
        for problem in byFolder.values.flatMap(\.values) where problem.item == item { try clear(problem.path) }
    }

    /// Forgets what was wrong with entries of a folder, but for these.
    func keepOnly(_ paths: Set<String>, in folder: String) throws {
        guard let known = byFolder[folder] else { return }
        for path in known.keys.sorted() where !paths.contains(path) { try clear(path) }
    }

    /// Moves the problems of a folder and below it to another path, or removes them.
    func move(_ old: String, to new: String?) throws {
        let moved = byFolder.values.flatMap(\.values).filter { LocalPath.isWithin($0.path, old) }
        for problem in moved.sorted(by: { $0.path < $1.path }) {
            try clear(problem.path)
            guard let new else { continue }
            let rest = String(decoding: problem.path.utf8.dropFirst(old.utf8.count), as: UTF8.self)
            try set(new + rest, problem.item, problem.message)
        }
    }

    /// Removes the problems of entries in folders that the tree does not have, since they were excluded or removed
    /// together with what is in them.
    func removeStrays() throws {
        for folder in byFolder.keys.sorted() where try !LocalPath.isFolder(folder, in: store) {
            try keepOnly([], in: folder)
        }
    }

    private func keep(_ problem: ProblemRecord) {
        let folder = LocalPath.split(problem.path).parent
        if byFolder[folder, default: [:]].updateValue(problem, forKey: problem.path) == nil { count += 1 }
    }
}
