import ByteClubCore
import Testing

/// Tiny trees written down: `x=1` is a file with the content 1, `f/` a folder.
enum TinyTree {
    static func local(_ text: String) throws -> Tree { try tree(text, revisions: false) }
    static func remote(_ text: String) throws -> Tree { try tree(text, revisions: true) }

    /// The server's version of a content: equal content has an equal version.
    private static func tree(_ text: String, revisions: Bool) throws -> Tree {
        var nodes: [Node] = []
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "=")
            let path = try RemotePath(String(parts[0]))
            guard parts.count == 2, let content = Int64(parts[1]) else {
                nodes.append(Node(path: path, isFolder: true, revision: revisions ? Revision(number: 1) : nil))
                continue
            }
            nodes.append(
                Node(
                    path: path, isFolder: false, hash: Perturbation.hash(UInt64(content)),
                    revision: revisions ? Revision(number: content + 1) : nil))
        }
        return Tree(nodes)
    }

    /// The steps of a plan, a word each.
    static func words(_ plan: Plan) -> String {
        plan.steps.map { step in
            switch step {
            case .adopt: "adopt \(step.key)"
            case .forget: "forget \(step.key)"
            case .createLocalFolder(let folder): "mkdir-local \(folder.path)"
            case .createRemoteFolder(let folder): "mkdir-remote \(folder.path)"
            case .download(let remote, let replacing): "download \(remote.path)" + (replacing == nil ? "" : " over")
            case .upload(let local, let parent): "upload \(local.path)" + (parent == nil ? "" : " over")
            case .deleteLocal(let local): "delete-local \(local.path)"
            case .deleteRemote(let remote, _):
                "delete-remote \(remote.path)@\(remote.revision.map { "\($0.number)" } ?? "-")"
            case .keepBoth(let local, _, _): "keep-both \(local.path)"
            }
        }.joined(separator: ", ")
    }
}

struct PlannerRow: Sendable, CustomStringConvertible {
    let name: String
    let synced: String
    let local: String
    let remote: String
    let steps: String
    var description: String { name }

    init(_ name: String, synced: String, local: String, remote: String, _ steps: String) {
        self.name = name
        self.synced = synced
        self.local = local
        self.remote = remote
        self.steps = steps
    }
}

@Suite("Planner's tables")
struct PlannerTableTests {
    /// Local work first, the server's second, as in the tables for files.
    static let files = [
        PlannerRow("none, none", synced: "x=1", local: "x=1", remote: "x=1", ""),
        PlannerRow("none, edit", synced: "x=1", local: "x=1", remote: "x=2", "download /x over"),
        PlannerRow("none, delete", synced: "x=1", local: "x=1", remote: "", "delete-local /x"),
        PlannerRow("none, create", synced: "", local: "", remote: "x=1", "download /x"),
        PlannerRow("edit, none", synced: "x=1", local: "x=2", remote: "x=1", "upload /x over"),
        PlannerRow("edit, edit", synced: "x=1", local: "x=2", remote: "x=3", "keep-both /x"),
        PlannerRow("edit, same edit", synced: "x=1", local: "x=2", remote: "x=2", "adopt /x"),
        PlannerRow("edit, delete", synced: "x=1", local: "x=2", remote: "", "upload /x"),
        PlannerRow("delete, none", synced: "x=1", local: "", remote: "x=1", "delete-remote /x@2"),
        PlannerRow("delete, edit", synced: "x=1", local: "", remote: "x=2", "download /x"),
        PlannerRow("delete, delete", synced: "x=1", local: "", remote: "", "forget /x"),
        PlannerRow("create, none", synced: "", local: "x=1", remote: "", "upload /x"),
        PlannerRow("create, create", synced: "", local: "x=1", remote: "x=2", "keep-both /x"),
        PlannerRow("create, same create", synced: "", local: "x=1", remote: "x=1", "adopt /x"),
    ]

    static let folders = [
        PlannerRow("none, none", synced: "f/ f/x=1", local: "f/ f/x=1", remote: "f/ f/x=1", ""),
        PlannerRow(
            "none, delete", synced: "f/ f/x=1", local: "f/ f/x=1", remote: "", "delete-local /f/x, delete-local /f"),
        PlannerRow(
            "none, child created", synced: "f/", local: "f/", remote: "f/ f/g/ f/g/x=1",
            "mkdir-local /f/g, download /f/g/x"),
        PlannerRow("none, create", synced: "", local: "", remote: "f/", "mkdir-local /f"),
        PlannerRow(
            "delete, none", synced: "f/ f/x=1 f/y=7", local: "", remote: "f/ f/x=1 f/y=7", "delete-remote /f@8"),
        PlannerRow("delete, delete", synced: "f/ f/x=1", local: "", remote: "", "forget /f, forget /f/x"),
        PlannerRow(
            "delete, child edited", synced: "f/ f/x=1 f/y=2", local: "", remote: "f/ f/x=3 f/y=2",
            "mkdir-local /f, download /f/x, delete-remote /f/y@3"),
        PlannerRow(
            "delete, child created deep", synced: "f/ f/g/ f/x=1", local: "", remote: "f/ f/g/ f/g/n=4 f/x=1",
            "mkdir-local /f, mkdir-local /f/g, download /f/g/n, delete-remote /f/x@2"),
        PlannerRow(
            "child edited, delete", synced: "f/ f/x=1 f/y=2", local: "f/ f/x=3 f/y=2", remote: "",
            "mkdir-remote /f, upload /f/x, delete-local /f/y"),
        PlannerRow(
            "child created, delete", synced: "f/ f/g/ f/g/x=1", local: "f/ f/g/ f/g/x=1 f/n=2", remote: "",
            "mkdir-remote /f, upload /f/n, delete-local /f/g/x, delete-local /f/g"),
        PlannerRow("create, none", synced: "", local: "f/ f/x=1", remote: "", "mkdir-remote /f, upload /f/x"),
        PlannerRow(
            "create, create", synced: "", local: "f/ f/x=1", remote: "f/ f/y=2", "adopt /f, upload /f/x, download /f/y"),
        PlannerRow(
            "inner deleted, rest kept", synced: "f/ f/g/ f/g/x=1 f/y=2", local: "f/ f/y=2",
            remote: "f/ f/g/ f/g/x=1 f/y=2", "delete-remote /f/g@2"),
    ]

    static let clashes = [
        PlannerRow("file became folder here", synced: "x=1", local: "x/ x/n=2", remote: "x=1", "delete-remote /x@2"),
        PlannerRow("file became folder there", synced: "x=1", local: "x=1", remote: "x/ x/n=2", "delete-local /x"),
        PlannerRow(
            "folder became file here", synced: "f/ f/x=1", local: "f=2", remote: "f/ f/x=1", "delete-remote /f@2"),
        PlannerRow(
            "folder became file there", synced: "f/ f/x=1", local: "f/ f/x=1", remote: "f=2",
            "delete-local /f/x, delete-local /f"),
        PlannerRow(
            "folder became file here, child edited there", synced: "f/ f/x=1 f/y=2", local: "f=5",
            remote: "f/ f/x=3 f/y=2", "keep-both /f, delete-remote /f/y@3"),
        PlannerRow(
            "folder became file there, child edited here", synced: "f/ f/x=1", local: "f/ f/x=3", remote: "f=5",
            "keep-both /f"),
        PlannerRow("file here, folder there, both new", synced: "", local: "x=1", remote: "x/ x/n=2", "keep-both /x"),
        PlannerRow("folder here, file there, both new", synced: "", local: "x/ x/n=2", remote: "x=1", "keep-both /x"),
        PlannerRow(
            "edited here, folder there", synced: "x=1", local: "x=3", remote: "x/ x/n=2", "keep-both /x"),
        PlannerRow(
            "beside a clash all goes on", synced: "f/ f/x=1", local: "f=2 g=3", remote: "f/ f/x=1 h=4",
            "upload /g, download /h, delete-remote /f@2"),
    ]

    static let cases = [
        PlannerRow("a folder in another case", synced: "F/", local: "f/", remote: "F/ F/X=1", "download /f/X"),
        PlannerRow(
            "a tree in a folder in another case", synced: "F/", local: "f/", remote: "F/ F/G/ f/g/X=1",
            "mkdir-local /f/G, download /f/G/X"),
        PlannerRow("a file in another case", synced: "x=1", local: "X=1", remote: "x=2", "download /X over"),
        PlannerRow("case alone", synced: "x=1", local: "X=1", remote: "x=1", ""),
        PlannerRow(
            "a parent's case the server mixes up", synced: "", local: "", remote: "F/ f/x=1",
            "mkdir-local /F, download /F/x"),
    ]

    @Test("each row plans its steps", arguments: files + folders + clashes + cases)
    func row(_ row: PlannerRow) throws {
        let plan = Planner.plan(
            local: try TinyTree.local(row.local), remote: try TinyTree.remote(row.remote),
            synced: try TinyTree.remote(row.synced))
        #expect(TinyTree.words(plan) == row.steps)
    }

    @Test("a server that tells no hashes is believed by its versions")
    func withoutHashes() throws {
        var remote = try TinyTree.remote("x=1 y=2")
        for key in remote.nodes.keys { remote.nodes[key]?.hash = nil }
        let synced = try TinyTree.remote("x=1 y=1")
        #expect(
            TinyTree.words(Planner.plan(local: try TinyTree.local("x=1 y=1"), remote: remote, synced: synced))
                == "download /y over")
        #expect(
            TinyTree.words(Planner.plan(local: try TinyTree.local("x=3"), remote: remote, synced: synced))
                == "upload /x over, download /y")
    }

    @Test("a version that changed without its content is only remembered")
    func newVersion() throws {
        var synced = try TinyTree.remote("x=1")
        for key in synced.nodes.keys { synced.nodes[key]?.revision = Revision(number: 1) }
        let plan = Planner.plan(local: try TinyTree.local("x=1"), remote: try TinyTree.remote("x=1"), synced: synced)
        #expect(TinyTree.words(plan) == "adopt /x")
    }

    @Test("a conflict copy does not take the name of one that is remembered")
    func rememberedCopy() throws {
        let copy = ConflictName.name(for: "x.md", loser: Perturbation.hash(1))
        let remembered = try #require(try TinyTree.remote("y=1").nodes.values.first)
        var synced = Tree()
        let path = try RemotePath("/" + copy)
        synced[path.key] = Node(path: path, isFolder: false, hash: remembered.hash, revision: Revision(number: 1))
        let plan = Planner.plan(
            local: try TinyTree.local("x.md=1"), remote: try TinyTree.remote("x.md=2"), synced: synced)
        guard case .keepBoth(_, _, let chosen) = try #require(plan.conflicts.first) else { return }
        #expect(chosen.name == ConflictName.name(for: "x.md", loser: Perturbation.hash(1), number: 2))
    }

    @Test("a conflict copy's name follows from the name and the content alone")
    func conflictName() throws {
        let path = try RemotePath("/f/Trip to é.tar.md")
        let hash = ContentHasher.hash([])
        #expect(try ConflictName.path(for: path, loser: hash).string == "/f/Trip to é.tar (conflict e3b0c442).md")
        #expect(
            try ConflictName.path(for: path, loser: hash, number: 2).string
                == "/f/Trip to é.tar (conflict e3b0c442 2).md")
        #expect(ConflictName.name(for: "f", loser: nil) == "f (conflict folder)")
    }
}
