import ByteClubCore
import TestSupport
import Testing

@Suite("SharedFolder's puts")
struct SharedFolderPutTests {
    /// What is at the path: nothing ever, deleted, a file at its 1st of two versions or its 2nd, a folder.
    enum Before: String, Sendable, CaseIterable { case never, deleted, file, folder }
    /// The decision table: before, condition, policy, and the stored path or the status of the refusal.
    struct Row: Sendable, CustomStringConvertible {
        let before: Before
        let condition: String
        let policy: ConflictPolicy
        let outcome: String
        var description: String { "\(before), \(condition), \(policy): \(outcome)" }
    }

    static let rows: [Row] = [
        Row(before: .never, condition: "overwrite", policy: .fail, outcome: "/n.md"),
        Row(before: .never, condition: "create", policy: .fail, outcome: "/n.md"),
        Row(before: .never, condition: "current", policy: .rename, outcome: "400"),
        Row(before: .deleted, condition: "overwrite", policy: .fail, outcome: "/n.md"),
        Row(before: .deleted, condition: "create", policy: .fail, outcome: "/n.md"),
        Row(before: .deleted, condition: "stale", policy: .fail, outcome: "/n.md"),
        Row(before: .deleted, condition: "current", policy: .fail, outcome: "/n.md"),
        Row(before: .deleted, condition: "unknown", policy: .fail, outcome: "400"),
        Row(before: .file, condition: "overwrite", policy: .fail, outcome: "/n.md"),
        Row(before: .file, condition: "create", policy: .rename, outcome: "/n (1).md"),
        Row(before: .file, condition: "create", policy: .fail, outcome: "409"),
        Row(before: .file, condition: "current", policy: .fail, outcome: "/n.md"),
        Row(before: .file, condition: "stale", policy: .rename, outcome: "/n (conflicted copy).md"),
        Row(before: .file, condition: "stale", policy: .fail, outcome: "409"),
        Row(before: .file, condition: "unknown", policy: .rename, outcome: "400"),
        Row(before: .folder, condition: "overwrite", policy: .rename, outcome: "403"),
        Row(before: .folder, condition: "create", policy: .rename, outcome: "/n (1).md"),
        Row(before: .folder, condition: "create", policy: .fail, outcome: "409"),
        Row(before: .folder, condition: "current", policy: .rename, outcome: "403"),
    ]

    @Test("each row of the decision table holds", arguments: rows)
    func table(_ row: Row) throws {
        var model = ModelFolder()
        let path = try RemotePath("/n.md")
        try model.put("/other", "x")
        switch row.before {
        case .never: break
        case .folder: _ = try model.change { try $0.createFolder(path) }
        case .file, .deleted:
            try model.put("/n.md", "one")
            try model.put("/n.md", "two")
            if row.before == .deleted { _ = try model.change { try $0.delete(path, seen: nil) } }
        }
        let versions = try model.state.versions(path.key, limit: 10)
        let condition: WriteCondition
        switch row.condition {
        case "overwrite": condition = .overwrite
        case "create": condition = .create
        case "current": condition = .parent(.number(versions.first?.revision ?? 99))
        case "stale": condition = .parent(.number(try #require(versions.last).revision))
        default: condition = .parent(.number(1))
        }
        let before = model.state.all
        do {
            let stored = try model.put("/n.md", "new", condition, row.policy)
            #expect(stored.path.string == row.outcome)
            #expect(model.state.all.count == before.count + 1)
            #expect(stored.revision == (before.last?.revision ?? 0) + 1 && stored.author == 7)
        } catch let error as APIError {
            #expect("\(error.status)" == row.outcome)
            #expect(model.state.all == before)
        }
    }

    @Test("bytes that are there already make no version")
    func identical() throws {
        var model = ModelFolder()
        let first = try model.put("/n.md", "same")
        #expect(try model.put("/N.MD", "same") == first)
        try model.put("/n.md", "other")
        let stale = try model.put("/n.md", "other", .parent(.number(first.revision)), .fail)
        #expect(stale.path.string == "/n.md")
        #expect(model.state.all.count == 2)
    }

    @Test("a file keeps its case and its folders'")
    func cases() throws {
        var model = ModelFolder()
        try model.put("/Notes/Trip.md", "1")
        #expect(try model.put("/NOTES/TRIP.MD", "2").path.string == "/Notes/Trip.md")
        #expect(try model.put("/nOTES/Other.md", "3").path.string == "/Notes/Other.md")
    }

    @Test("the root, ignored names and files above are refused")
    func refusals() throws {
        var model = ModelFolder()
        try model.put("/file", "1")
        for (path, status) in [("/", 400), ("/Thumbs.DB", 400), ("/f/~$x", 400), ("/file/x", 403), ("/FILE/a/b", 403)] {
            let error = #expect(throws: APIError.self) { try model.put(path, "x") }
            #expect(error?.status == status, "\(path)")
        }
        #expect(model.paths == ["/file"])
    }

    @Test("an extension that leaves no room is no extension")
    func longExtension() throws {
        var model = ModelFolder()
        let name = "/a." + String(repeating: "e", count: 250)
        try model.put(name, "1", .create)
        let second = try model.put(name, "2", .create)
        #expect(second.path.name.utf8.count == 255 && second.path.name.hasSuffix(" (1)"))
    }
}
