import ByteClubCore
import Glibc
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// A scanner over a simulated disk.
final class ScanScene {
    let disk = SimulatedDisk()
    let store: any TreeStore
    let scanner: Scanner

    init(_ store: any TreeStore = MemoryTreeStore(), rules: ScanRules = ScanRules()) throws {
        self.store = store
        scanner = Scanner(root: try disk.openRoot(), store: store, rules: rules)
    }

    /// Lets so much time pass that no stat is racy any more.
    func wait() { disk.time += 10_000_000_000 }

    @discardableResult
    func scan(_ scope: ScanScope = .everything, confirmsDeletions: Bool = true) throws -> ScanReport {
        try scanner.scan(scope, confirmsDeletions: confirmsDeletions)
    }

    /// Scans until nothing is racy, and takes all for synced with the server.
    func settle() throws {
        try scan()
        wait()
        try scan()
        try sync()
    }

    /// Reads all files and takes all for synced.
    func sync() throws {
        for (id, path) in try paths() {
            guard var item = try store.item(id), let local = item.local else { continue }
            if !local.isFolder { item.local?.hash = ContentHasher.hash(disk.content(path) ?? []) }
            let hash = item.local?.hash
            item.base = SyncedState(location: local.location, isFolder: local.isFolder, hash: hash, size: local.size)
            item.remote = RemoteState(location: local.location, isFolder: local.isFolder, hash: hash, size: local.size)
            try store.save(item)
        }
    }

    /// All items on disk with their paths.
    func paths(below folder: ItemID = .root, _ prefix: String = "") throws -> [(ItemID, String)] {
        try store.children(of: folder, on: .local).flatMap { item -> [(ItemID, String)] in
            let path = LocalPath.join(prefix, item.local?.location.name.text ?? "")
            return [(item.id, path)] + (try paths(below: item.id, path))
        }
    }

    func item(_ path: String) throws -> Item? {
        guard let id = try paths().first(where: { $0.1.utf8.elementsEqual(path.utf8) })?.0 else { return nil }
        return try store.item(id)
    }

    func id(_ path: String) throws -> ItemID { try #require(try item(path)).id }

    func tree() throws -> [String] {
        try paths().map(\.1).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

@Suite struct ScannerTests {
    @Test("a first scan finds everything, and an idle one reads nothing but fingerprints")
    func first() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("a")
        scene.disk.makeFolder("a/b")
        scene.disk.write("a/b/x", "x")
        scene.disk.write("y", "y")
        let report = try scene.scan()
        #expect(try scene.tree() == ["a", "a/b", "a/b/x", "y"])
        #expect(report.created == 4 && report.isComplete)
        #expect(!report.racyFolders.isEmpty)
        scene.wait()
        try scene.scan()
        let idle = try scene.scan()
        #expect(idle.changes == 0 && idle.listed == 0 && idle.folders == 3 && idle.racyFolders.isEmpty)
    }

    @Test("an edit in place keeps the item and forgets the hash")
    func edit() throws {
        let scene = try ScanScene()
        scene.disk.write("x", "1")
        try scene.settle()
        let id = try scene.id("x")
        scene.disk.write("x", "2")
        let report = try scene.scan()
        #expect(report.edited == 1 && report.created == 0)
        #expect(try scene.id("x") == id && scene.item("x")?.local?.hash == nil)
    }

    @Test("a file that is only touched is read again")
    func touch() throws {
        let scene = try ScanScene()
        scene.disk.write("x", "1")
        try scene.settle()
        scene.disk.touch("x", modified: 7_000_000_001)
        #expect(try scene.scan().edited == 1)
        #expect(try scene.item("x")?.local?.hash == nil)
    }

    @Test("an editor's save stays with the path, with and without a backup", arguments: [false, true])
    func save(keepsBackup: Bool) throws {
        let scene = try ScanScene()
        scene.disk.write("doc", "1")
        try scene.settle()
        let id = try scene.id("doc")
        scene.disk.save("doc", "2", keepsBackup: keepsBackup)
        let report = try scene.scan()
        #expect(try scene.id("doc") == id)
        #expect(report.edited == 1 && report.deleted == 0 && report.moved == 0)
        #expect(try scene.tree() == (keepsBackup ? ["doc", "doc.bak"] : ["doc"]))
        if keepsBackup { #expect(try scene.id("doc.bak") != id) }
    }

    @Test("an editor's other file, seen by a scan before it took the name, is the new content")
    func saveSeenHalfway() throws {
        let scene = try ScanScene()
        scene.disk.write("doc", "1")
        try scene.settle()
        let id = try scene.id("doc")
        scene.disk.write("doc.new", "2")
        try scene.scan()
        scene.disk.move("doc.new", to: "doc")
        try scene.scan()
        #expect(try scene.tree() == ["doc"])
        #expect(try scene.id("doc") == id)
    }

    @Test("a backup in another folder leaves the item where its name is", arguments: ["a", "z"])
    func backupElsewhere(folder: String) throws {
        let scene = try ScanScene()
        scene.disk.makeFolder(folder)
        scene.disk.makeFolder("m")
        scene.disk.write("m/doc", "1")
        try scene.settle()
        let id = try scene.id("m/doc")
        scene.disk.move("m/doc", to: folder + "/old")
        scene.disk.write("m/doc", "2")
        try scene.scan()
        #expect(try scene.id("m/doc") == id)
        #expect(try scene.id(folder + "/old") != id)
    }

    @Test("a rename keeps the item and its hash", arguments: ["y", "d/x", "d/y"])
    func rename(target: String) throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("d")
        scene.disk.write("x", "1")
        try scene.settle()
        let id = try scene.id("x")
        scene.disk.move("x", to: target)
        let report = try scene.scan()
        #expect(report.moved == 1 && report.changes == 1)
        #expect(try scene.id(target) == id)
        #expect(try scene.item(target)?.local?.hash != nil)
        scene.wait()
        try scene.scan()
        #expect(try scene.item(target)?.local?.hash != nil)
    }

    @Test("a file that was moved and edited keeps its item and loses its hash")
    func moveAndEdit() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("d")
        scene.disk.write("x", "1")
        try scene.settle()
        let id = try scene.id("x")
        scene.disk.move("x", to: "d/y")
        scene.disk.write("d/y", "22")
        try scene.scan()
        #expect(try scene.id("d/y") == id)
        #expect(try scene.item("d/y")?.local?.hash == nil)
    }

    @Test("two files that change places keep their items", arguments: [("a", "b"), ("p/a", "q/b"), ("q/a", "p/a")])
    func swap(first: String, second: String) throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("p")
        scene.disk.makeFolder("q")
        scene.disk.write(first, "1")
        scene.disk.write(second, "2")
        try scene.settle()
        let (one, two) = (try scene.id(first), try scene.id(second))
        scene.disk.move(first, to: "t")
        scene.disk.move(second, to: first)
        scene.disk.move("t", to: second)
        let report = try scene.scan()
        #expect(try scene.id(first) == two && scene.id(second) == one)
        #expect(report.moved == 2 && report.changes == 2)
    }

    @Test("three folders that change places in a ring keep their items")
    func ring() throws {
        let scene = try ScanScene()
        for name in ["a", "b", "c"] {
            scene.disk.makeFolder(name)
            scene.disk.write(name + "/" + name, name)
        }
        try scene.settle()
        let ids = try ["a", "b", "c"].map(scene.id)
        scene.disk.move("a", to: "t")
        scene.disk.move("b", to: "a")
        scene.disk.move("c", to: "b")
        scene.disk.move("t", to: "c")
        let report = try scene.scan()
        #expect(try ["c", "a", "b"].map(scene.id) == ids)
        #expect(try scene.tree() == ["a", "a/b", "b", "b/c", "c", "c/a"])
        #expect(report.changes == 3)
    }

    @Test("a file renamed over another one is that one's end")
    func renameOver() throws {
        let scene = try ScanScene()
        scene.disk.write("a", "1")
        scene.disk.write("b", "2")
        try scene.settle()
        let id = try scene.id("a")
        scene.disk.move("a", to: "b")
        let report = try scene.scan()
        #expect(try scene.id("b") == id)
        #expect(report.moved == 1 && report.deleted == 1)
    }

    @Test("a moved folder keeps its item and those in it, and none of them is listed")
    func moveFolder() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("d")
        scene.disk.makeFolder("d/e")
        scene.disk.makeFolder("z")
        for number in 0..<20 { scene.disk.write("d/e/\(number)", "\(number)") }
        try scene.settle()
        let (folder, file) = (try scene.id("d"), try scene.id("d/e/7"))
        scene.disk.move("d", to: "z/f")
        let report = try scene.scan()
        #expect(try scene.id("z/f") == folder && scene.id("z/f/e/7") == file)
        #expect(report.changes == 1 && report.listed == 2)
    }

    @Test("a parent and a child that change places keep their items")
    func inversion() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("a")
        scene.disk.makeFolder("a/b")
        scene.disk.write("a/x", "x")
        scene.disk.write("a/b/y", "y")
        try scene.settle()
        let (a, b) = (try scene.id("a"), try scene.id("a/b"))
        scene.disk.move("a/b", to: "b")
        scene.disk.move("a", to: "b/a")
        try scene.scan()
        #expect(try scene.id("b") == b && scene.id("b/a") == a)
        #expect(try scene.tree() == ["b", "b/a", "b/a/x", "b/y"])
    }

    @Test("a hard link is a new item")
    func hardLink() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("d")
        scene.disk.write("x", "1")
        try scene.settle()
        let id = try scene.id("x")
        scene.disk.link("x", to: "d/y")
        let report = try scene.scan()
        #expect(try scene.id("x") == id && scene.id("d/y") != id)
        #expect(report.created == 1 && report.moved == 0)
    }

    @Test("an inode number that is used again is another file")
    func inodeReuse() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("d")
        scene.disk.write("x", "1")
        try scene.settle()
        let id = try scene.id("x")
        scene.disk.delete("x")
        scene.disk.write("d/y", "1")
        let report = try scene.scan()
        #expect(try scene.id("d/y") != id)
        #expect(report.deleted == 1 && report.created == 1)
    }

    @Test("a file that became a folder is another item")
    func typeChange() throws {
        let scene = try ScanScene()
        scene.disk.write("x", "1")
        try scene.settle()
        let id = try scene.id("x")
        scene.disk.delete("x")
        scene.disk.makeFolder("x")
        let report = try scene.scan()
        #expect(try scene.id("x") != id)
        #expect(report.created == 1 && report.deleted == 1)
        #expect(try scene.store.item(id)?.local == nil)
    }

    @Test("a deleted folder goes with all that was in it")
    func deleteFolder() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("d")
        scene.disk.makeFolder("d/e")
        scene.disk.write("d/e/x", "1")
        scene.disk.write("y", "1")
        try scene.settle()
        scene.disk.move("d/e/x", to: "z")
        let id = try scene.id("d/e/x")
        scene.disk.delete("d")
        let report = try scene.scan()
        #expect(try scene.tree() == ["y", "z"])
        #expect(try scene.id("z") == id)
        #expect(report.deleted == 2)
    }

    @Test("what has vanished stays in the tree until deletions are confirmed")
    func unconfirmed() throws {
        let scene = try ScanScene()
        scene.disk.write("x", "1")
        try scene.settle()
        let id = try scene.id("x")
        scene.disk.delete("x")
        for _ in 0..<2 {
            let report = try scene.scan(.folders([.root]), confirmsDeletions: false)
            #expect(report.vanished == [id] && report.deleted == 0)
        }
        #expect(try scene.item("x") != nil)
        #expect(try scene.scan().deleted == 1)
        #expect(try scene.item("x") == nil)
    }

    @Test("a move out of a folder that is scanned into one that is not is found by the wider scan")
    func moveOutOfScope() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("a")
        scene.disk.makeFolder("b")
        scene.disk.write("a/x", "1")
        try scene.settle()
        let id = try scene.id("a/x")
        scene.disk.move("a/x", to: "b/x")
        #expect(try scene.scan(.folders([scene.id("a")]), confirmsDeletions: false).vanished == [id])
        #expect(try scene.scan(.everything).moved == 1)
        #expect(try scene.id("b/x") == id)
    }

    @Test("a move into a folder that is scanned is found though the other one is not")
    func moveIntoScope() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("a")
        scene.disk.makeFolder("b")
        scene.disk.write("a/x", "1")
        try scene.settle()
        let id = try scene.id("a/x")
        scene.disk.move("a/x", to: "b/x")
        #expect(try scene.scan(.folders([scene.id("b")])).moved == 1)
        #expect(try scene.id("b/x") == id)
        #expect(try scene.scan().changes == 0)
    }

    @Test("a scan of a folder that was renamed meanwhile looks where the tree is out of date")
    func renamedScope() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("a")
        scene.disk.write("a/x", "1")
        try scene.settle()
        let (folder, file) = (try scene.id("a"), try scene.id("a/x"))
        scene.disk.move("a", to: "b")
        scene.disk.write("b/y", "2")
        let report = try scene.scan(.folders([folder]))
        #expect(try scene.id("b") == folder && scene.id("b/x") == file)
        #expect(report.moved == 1 && report.created == 1 && report.deleted == 0)
    }

    @Test("a file that a user moves behind the scan's back is still the same")
    func moveDuringScan() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("a")
        scene.disk.makeFolder("z")
        scene.disk.write("z/x", "1")
        try scene.settle()
        let id = try scene.id("z/x")
        var isDone = false
        scene.disk.before = { [unowned disk = scene.disk] call in
            if !isDone, call.verb == .fingerprint, call.path == "z" { isDone = disk.move("z/x", to: "a/x") }
        }
        let report = try scene.scan()
        #expect(isDone)
        #expect(try scene.id("a/x") == id)
        #expect(report.deleted == 0 && report.created == 0)
    }

    @Test("a folder that cannot be listed is frozen and nothing in it is taken for deleted", arguments: [EACCES, EIO])
    func frozen(code: Int32) throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("d")
        scene.disk.makeFolder("d/e")
        scene.disk.write("d/e/x", "1")
        try scene.settle()
        scene.disk.write("d/y", "new")
        scene.disk.failure = { $0.path == "d/e" || $0.path == "d" && $0.verb != .openFolder ? code : nil }
        let report = try scene.scan()
        #expect(!report.isComplete && report.deleted == 0 && report.problems == 1)
        #expect(try scene.item("d")?.isFrozen == true && scene.item("d/e/x") != nil)
        scene.disk.failure = nil
        let healed = try scene.scan()
        #expect(healed.isComplete && healed.problems == 0 && healed.created == 1)
        #expect(try scene.item("d")?.isFrozen == false)
    }

    @Test("a root that cannot be listed stops the scan")
    func lostRoot() throws {
        let scene = try ScanScene()
        scene.disk.write("x", "1")
        try scene.settle()
        scene.disk.failure = { $0.verb == .fingerprint || $0.verb == .list ? EIO : nil }
        #expect(throws: FileError.self) { try scene.scan() }
        #expect(try scene.tree() == ["x"])
    }

    @Test("links, pipes and names that cannot be synced are problems and stop nothing else")
    func others() throws {
        let scene = try ScanScene()
        scene.disk.makeOther("link")
        scene.disk.makeOther("pipe", "a pipe")
        scene.disk.makeUndecodable("b\u{FFFD}d")
        scene.disk.write("back\\slash", "1")
        scene.disk.write("ok", "1")
        let report = try scene.scan()
        #expect(try scene.tree() == ["ok"])
        #expect(report.problems == 4)
        scene.disk.delete("link")
        #expect(try scene.scan().problems == 3)
    }

    @Test("a file replaced by a link is frozen, not deleted, and comes back")
    func replacedByLink() throws {
        let scene = try ScanScene()
        scene.disk.write("x", "1")
        try scene.settle()
        let id = try scene.id("x")
        scene.disk.delete("x")
        scene.disk.makeOther("x")
        #expect(try scene.scan().deleted == 0)
        #expect(try scene.item("x")?.isFrozen == true)
        scene.disk.delete("x")
        scene.disk.write("x", "2")
        try scene.scan()
        #expect(try scene.item("x")?.isFrozen == false && scene.id("x") == id)
        #expect(try scene.store.problems().isEmpty)
    }

    @Test("problems move with their folder and go with it")
    func movedProblems() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("a")
        scene.disk.makeOther("a/link")
        try scene.settle()
        scene.disk.move("a", to: "b")
        try scene.scan()
        #expect(try scene.store.problems().map(\.path) == ["b/link"])
        scene.disk.delete("b")
        try scene.scan()
        #expect(try scene.store.problems().isEmpty)
    }

    @Test("ignored, private and deselected names never become items")
    func ignored() throws {
        let rules = ScanRules(ignored: try IgnoreRules("*.tmp"), deselected: [PathKey(folded: "/off")])
        let scene = try ScanScene(rules: rules)
        for folder in [".byteclub", "Off", "d"] { scene.disk.makeFolder(folder) }
        for file in [".byteclub/x", "Off/x", "d/a.tmp", "d/.DS_Store", "d/x"] { scene.disk.write(file, "1") }
        #expect(try scene.scan().problems == 1)
        #expect(try scene.store.problems().map(\.path) == ["Off/x"], "a file in a deselected folder is told of")
        #expect(try scene.tree() == ["d", "d/x"])
    }

    @Test("what a new rule leaves out is excluded and not deleted")
    func excluded() throws {
        let scene = try ScanScene()
        scene.disk.makeFolder("d")
        scene.disk.write("d/x", "1")
        try scene.settle()
        let (folder, file) = (try scene.id("d"), try scene.id("d/x"))
        scene.scanner.rules.ignored = try IgnoreRules("/d")
        scene.disk.write("new", "1")
        #expect(try scene.scan().deleted == 0)
        for id in [folder, file] {
            let item = try #require(try scene.store.item(id))
            #expect(item.isExcluded && item.local == nil && item.synced == nil && item.remote != nil)
        }
    }

    @Test("two names with one key both become items")
    func sameKey() throws {
        let scene = try ScanScene()
        for name in ["a", "A", "\u{E9}", "e\u{301}"] { scene.disk.write(name, name) }
        try scene.scan()
        #expect(try scene.tree().count == 4)
        #expect(try scene.store.children(of: .root, key: "a", on: .local).count == 2)
    }

    @Test("a name that only changes its letters' case keeps its item on a disk that folds case")
    func caseRename() throws {
        let scene = try ScanScene()
        scene.disk.foldsCase = true
        scene.disk.write("doc", "1")
        try scene.settle()
        let id = try scene.id("doc")
        scene.disk.move("doc", to: "Doc")
        let report = try scene.scan()
        #expect(try scene.id("Doc") == id)
        #expect(report.moved == 1 && report.changes == 1)
    }

    @Test("a write right after a racy stat is found", arguments: [4_000_000, 2_000_000_000])
    func racy(granularity: Int64) throws {
        let scene = try ScanScene()
        scene.disk.granularity = granularity
        scene.disk.time = 1_700_000_000_000_000_000
        scene.disk.write("x", "1")
        try scene.scan()
        let id = try scene.id("x")
        guard case .content(let hash, let stat) = try scene.scanner.readHash(of: id) else {
            Issue.record("not read")
            return
        }
        #expect(stat.isRacy)
        var item = try #require(try scene.item("x"))
        item.local?.hash = hash
        item.local?.stat = stat
        try scene.store.save(item)
        scene.disk.write("x", "2")
        #expect(
            try scene.item("x")?.local?.stat?.fingerprint
                == scene.disk.node("x").map { scene.disk.stat($0).fingerprint })
        scene.wait()
        try scene.scan()
        #expect(try scene.item("x")?.local?.hash == nil)
        try scene.sync()
        let idle = try scene.scan()
        #expect(idle.changes == 0 && idle.listed == 0 && idle.racyFolders.isEmpty)
    }

    @Test("reading tells the hash, and who is in the way")
    func reading() throws {
        let scene = try ScanScene()
        scene.disk.write("x", "1")
        try scene.settle()
        let id = try scene.id("x")
        let hash = ContentHasher.hash(Array("1".utf8))
        let stat = try #require(try scene.item("x")?.local?.stat)
        #expect(try scene.scanner.readHash(of: id) == .content(hash, stat))
        let open = try #require(scene.disk.openForWriting("x"))
        #expect(try scene.scanner.readHash(of: id) == .busy)
        open.close()
        scene.disk.before = { [unowned disk = scene.disk] in if $0.verb == .read { disk.write("x", "2") } }
        #expect(try scene.scanner.readHash(of: id) == .busy)
        scene.disk.before = nil
        scene.disk.lock("x")
        guard case .problem(let error) = try scene.scanner.readHash(of: id) else {
            Issue.record("read what is forbidden")
            return
        }
        #expect(error.code == EACCES)
        scene.disk.delete("x")
        #expect(try scene.scanner.readHash(of: id) == .vanished)
    }

    @Test("each folder is watched before it is scanned")
    func watching() throws {
        let disk = SimulatedDisk()
        disk.makeFolder("a")
        disk.makeFolder("a/b")
        var watched: [String] = []
        disk.before = { call in
            if call.verb == .list { #expect(watched.contains(call.path)) }
        }
        let scanner = Scanner(root: try disk.openRoot(), store: MemoryTreeStore()) { folder, _, _ in
            if let folder = folder as? SimulatedFolder { watched.append(disk.path(folder.node)) }
        }
        _ = try scanner.scan(.everything, confirmsDeletions: true)
        #expect(watched == ["", "a", "a/b"])
    }
}

extension ScanReport {
    /// How many items' states in the tree have changed.
    var changes: Int { created + moved + edited + deleted }
}
