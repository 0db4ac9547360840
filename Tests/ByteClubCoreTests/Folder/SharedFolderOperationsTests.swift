import ByteClubCore
import TestSupport
import Testing

@Suite("SharedFolder's operations")
struct SharedFolderOperationsTests {
    private func status(_ work: () throws -> FolderEntry) -> Int? {
        do {
            _ = try work()
            return nil
        } catch { return (error as? APIError)?.status }
    }

    @Test("a folder delete is refused for what is newer, not for what was deleted in it meanwhile")
    func conditionalFolderDelete() throws {
        var model = ModelFolder()
        let kept = try model.put("/f/a", "1")
        try model.put("/f/b", "2")
        _ = try model.change { try $0.delete(RemotePath("/f/b"), seen: nil) }
        let seen = JournalRevision(number: kept.revision)
        #expect(status { try model.change { try $0.delete(RemotePath("/f"), seen: seen) } } == nil)
        #expect(model.paths.isEmpty)

        try model.put("/g/a", "1")
        let before = JournalRevision(number: model.state.lastRevision())
        try model.put("/g/new", "2")
        #expect(status { try model.change { try $0.delete(RemotePath("/g"), seen: before) } } == 409)
        #expect(model.paths == ["/g", "/g/a", "/g/new"])
    }

    @Test("a move onto, into itself, of and to the root are refused, a change of case is not")
    func moves() throws {
        var model = ModelFolder()
        try model.put("/f/a", "1")
        try model.put("/b", "2")
        let move = { (from: String, to: String) in
            status { try model.change { try $0.move(RemotePath(from), to: RemotePath(to)) } }
        }
        #expect(move("/f", "/f/x") == 403)
        #expect(move("/f", "/F/y/z") == 403)
        #expect(move("/b", "/f/A") == 403)
        #expect(move("/", "/x") == 403)
        #expect(move("/b", "/") == 403)
        #expect(move("/never", "/x") == 404)
        #expect(move("/b", "/f/a/x") == 403)
        #expect(model.paths == ["/b", "/f", "/f/a"])
        #expect(move("/f", "/F") == nil)
        #expect(model.paths == ["/b", "/F", "/F/a"])
        #expect(move("/F/a", "/new/deep/A") == nil)
        #expect(model.paths == ["/b", "/F", "/new", "/new/deep", "/new/deep/A"])
    }

    @Test("a restored file keeps its stored case and gets a new version")
    func restores() throws {
        var model = ModelFolder()
        let first = try model.put("/Trip.md", "1")
        try model.put("/Trip.md", "2")
        let back = try model.change {
            try $0.restore(RemotePath("/TRIP.MD"), to: JournalRevision(number: first.revision))
        }
        #expect(back.path.string == "/Trip.md" && back.contentHash == first.contentHash && back.revision == 3)
    }

    @Test("more entries than one call may touch are refused whole")
    func limits() throws {
        let folder = try RemotePath("/f")
        var big = SharedFolder(state: BigFolderState(), now: APIDate(seconds: 0), author: 1)
        #expect(status { try big.delete(folder, seen: nil) } == 406)
        #expect(status { try big.move(folder, to: RemotePath("/g")) } == 406)
        #expect(status { try big.copy(folder, to: RemotePath("/g")) } == 406)
        #expect((big.state as? BigFolderState)?.isWritten == false)
    }

    /// A folder with more below it than one call may touch.
    private struct BigFolderState: FolderState {
        var isWritten = false

        private func entry(_ text: String, isFolder: Bool) -> FolderEntry? {
            (try? RemotePath(text)).map {
                FolderEntry(path: $0, isFolder: isFolder, revision: 1, modified: APIDate(seconds: 0), author: 1)
            }
        }
        func latest(_ key: PathKey) -> FolderEntry? { key.string == "/f" ? entry("/f", isFolder: true) : nil }
        func version(_ key: PathKey, revision: Int64) -> FolderEntry? { latest(key) }
        func versions(_ key: PathKey, before revision: Int64?, limit: Int) -> [FolderEntry] { [] }
        func children(_ key: PathKey, includeDeleted: Bool, limit: Int) -> [FolderEntry] { [] }
        func descendants(_ key: PathKey, limit: Int) -> [FolderEntry] {
            (0..<min(limit, 20_000)).compactMap { entry("/f/\($0)", isFolder: false) }
        }
        func changes(after: Int64, prefix: PathKey, includeDeleted: Bool, limit: Int) -> [FolderEntry] { [] }
        func current(_ node: NodeID) -> FolderEntry? { nil }
        func journal(after: Int64, changedAfter: Int64, limit: Int) -> [FolderEntry] { [] }
        func revisions(by writer: OperationWriter, after revision: Int64, limit: Int) -> Set<Int64> { [] }
        func version(_ key: PathKey, before revision: Int64) -> FolderEntry? { nil }
        func forEachChange(before revision: Int64, _ body: (FolderEntry) throws -> Bool) throws {}
        func outcome(of operation: OperationID, by member: Int64) -> OperationOutcome? { nil }
        func lastRevision() -> Int64 { 1 }
        mutating func remember(_: OperationID, by _: Int64, at _: APIDate, made _: FolderEntry) {}
        mutating func record(_ entry: FolderEntry) { isWritten = true }
    }

    @Test("changes come in order and in pages, and a cursor of another numbering starts over")
    func delta() throws {
        var model = ModelFolder()
        for number in 0..<5 { try model.put("/n\(number)", "\(number)") }
        let start = DeltaCursor(epoch: "e", member: 1)
        let (first, next) = try model.folder.delta(after: nil, start: start, limit: 3)
        #expect(first.reset && first.hasMore && first.entries.map(\.key.string) == ["/n0", "/n1", "/n2"])
        let (second, end) = try model.folder.delta(after: next, start: start, limit: 3)
        #expect(!second.reset && !second.hasMore && second.entries.map(\.key.string) == ["/n3", "/n4"])
        _ = try model.change { try $0.delete(RemotePath("/n3"), seen: nil) }
        let (third, _) = try model.folder.delta(after: end, start: start, limit: 3)
        #expect(third.entries == [DeltaEntry(key: PathKey(folded: "/n3"), metadata: nil)])
        let (again, _) = try model.folder.delta(after: end, start: DeltaCursor(epoch: "other", member: 1), limit: 9)
        #expect(again.reset && again.entries.count == 4)
        var ahead = end
        ahead.revision = 99
        #expect(try model.folder.delta(after: ahead, start: start, limit: 9).page.reset)
    }
}
