import ByteClubCore
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync

@Suite("A mirror that speaks plain Core API v1") struct PathReplicaTests {
    private let server = MemoryRemote()
    private let one: Device
    private let other: MemoryRemote

    init() throws {
        one = try Device(MemoryRemote(sharing: server, author: 1), forces: true, usesExtension: false)
        other = MemoryRemote(sharing: server, author: 2)
    }

    /// Does something once, right before or after a call of the mirror.
    private func once(
        _ kind: MemoryOperation.Kind, _ moment: MemoryOperation.Moment,
        _ work: @escaping @Sendable () async throws(RemoteError) -> Void
    ) {
        let isDone = Mutex(false)
        one.remote.fault = { operation throws(RemoteError) in
            guard operation.kind == kind, operation.moment == moment else { return }
            let wasDone = isDone.withLock { done in
                defer { done = true }
                return done
            }
            if !wasDone { try await work() }
        }
    }

    /// Writes a note as another member.
    private func put(_ path: RemotePath, _ text: String) async throws(RemoteError) {
        _ = try await other.put(
            .bytes(Array(text.utf8)), at: path, condition: .overwrite, policy: .fail, progress: nil)
    }

    private func text(_ path: String) async throws -> String {
        let bytes = try await server.content(
            at: RemotePath("/byteclub/" + path), revision: nil, range: nil, limit: 1_000
        ).bytes
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("after a move whose answer was lost nothing is written before the feed tells what became of it")
    func lostMove() async throws {
        for name in ["a.md", "b.md"] { one.write(name, "text of \(name)") }
        try await one.sync()
        one.remove("a.md")
        one.write("a.md", "another text")
        one.write("c.md", "new")
        try await one.sync()
        one.write("kept.md", "kept")
        let moved = one.root + "/moved.md"
        unsafe #expect(rename(one.root + "/b.md", moved) == 0)
        let calls = Mutex<[MemoryOperation.Kind]>([])
        one.remote.fault = { operation throws(RemoteError) in
            if operation.moment == .before { calls.withLock { $0.append(operation.kind) } }
            let moves = calls.withLock { $0.count { $0 == .move } }
            if operation.kind == .move, operation.moment == .after, moves == 1 {
                throw RemoteError(.unreachable, "the answer was lost")
            }
        }
        _ = try? await one.sync()
        _ = try? await one.sync()
        let rest = calls.withLock { $0.drop { $0 != .move }.dropFirst() }
        let next = try #require(rest.first { $0.isWriting || $0 == .delta })
        #expect(next == .delta || !rest.contains(where: \.isWriting), "\(Array(rest))")
        one.remote.fault = nil
        #expect(try await one.sync().isComplete)
        #expect(try await text("moved.md") == "text of b.md")
        #expect(try await text("kept.md") == "kept")
        await #expect(throws: RemoteError.self) { try await text("b.md") }
        #expect(one.files().keys.sorted() == ["a.md", "c.md", "kept.md", "moved.md"])
    }

    @Test("a folder that is deleted here keeps what came into it after this mirror had read the feed")
    func deletedFolder() async throws {
        for name in ["f/a.md", "f/b.md", "z.md"] { one.write(name, "text of \(name)") }
        try await one.sync()
        one.remove("f")
        one.write("z.md", "edited")
        let late = try RemotePath("/byteclub/f/late.md")
        once(.put, .before) { () throws(RemoteError) in try await put(late, "late") }
        for _ in 0..<3 { _ = try? await one.sync() }
        one.remote.fault = nil
        #expect(try await one.sync().isComplete)
        #expect(try await text("f/late.md") == "late")
        #expect(try await text("z.md") == "edited")
        #expect(one.files() == ["f/": "", "f/late.md": "late", "z.md": "edited"])
        await #expect(throws: RemoteError.self) { try await text("f/a.md") }
    }

    @Test("a feed whose place the server has forgotten is read from its start, and nothing is sent or removed for it")
    func forgottenCursor() async throws {
        for number in 0..<20 { one.write("f\(number % 3)/\(number).md", "text \(number)") }
        try await one.sync()
        let before = one.files()
        try await put(RemotePath("/byteclub/f0/new.md"), "new")
        let calls = Mutex<[MemoryOperation.Kind: Int]>([:])
        one.remote.fault = { operation throws(RemoteError) in
            guard operation.moment == .before else { return }
            let count = calls.withLock { calls in
                calls[operation.kind, default: 0] += 1
                return calls[operation.kind]
            }
            if operation.kind == .delta, count == 1 { throw RemoteError(.badCursor, "the cursor is not known") }
        }
        #expect(try await one.sync().isComplete)
        #expect(one.files() == before.merging(["f0/new.md": "new"]) { $1 })
        #expect(calls.withLock { $0.filter { $0.key.isWriting }.isEmpty && $0[.content] == 1 })
        #expect(one.trash.isEmpty)
    }

    @Test("a note whose answer was lost is there once, with one version")
    func lostAnswer() async throws {
        one.write("a.md", "one")
        try await one.sync()
        one.write("a.md", "two")
        once(.put, .after) { () throws(RemoteError) in throw RemoteError(.unreachable, "the answer was lost") }
        _ = try? await one.sync()
        #expect(try await one.sync().isComplete)
        #expect(one.files() == ["a.md": "two"])
        let versions = try await server.revisions(of: RemotePath("/byteclub/a.md"), before: nil, limit: 9)
        #expect(versions.count == 2)
    }

    @Test("an edit that reached the old place of a folder before it was moved is in the new place, on both sides")
    func movedFolder() async throws {
        for name in ["f/a.md", "f/b.md", "f/g/c.md"] { one.write(name, "text of \(name)") }
        try await one.sync()
        unsafe #expect(rename(one.root + "/f", one.root + "/h") == 0)
        let old = try RemotePath("/byteclub/f/g/c.md")
        once(.move, .before) { () throws(RemoteError) in try await put(old, "edited") }
        for _ in 0..<2 { _ = try? await one.sync() }
        one.remote.fault = nil
        #expect(try await one.sync().isComplete)
        #expect(try await text("h/g/c.md") == "edited")
        #expect(try await text("h/a.md") == "text of f/a.md")
        #expect(
            one.files() == [
                "h/": "", "h/g/": "", "h/a.md": "text of f/a.md", "h/b.md": "text of f/b.md", "h/g/c.md": "edited",
            ])
    }
}
