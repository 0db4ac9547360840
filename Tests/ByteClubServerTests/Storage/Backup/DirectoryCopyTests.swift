import ByteClubCore
import GRDB
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Backup and restore")
struct DirectoryCopyTests {
    private static func furnished() async throws -> StoreFixture {
        let fixture = try StoreFixture()
        _ = try await fixture.store.addMember(name: "Ann", role: nil, oauth1: true)
        try await fixture.put("/a.md", [1])
        try await fixture.put("/a.md", [2])
        try await fixture.put("/photos/p.jpg", randomBytes(100_000, seed: 1))
        let upload = try await fixture.store.beginUpload(member: 1)
        _ = try await fixture.store.appendToUpload(upload.uploadID, member: 1, at: 0).finish()
        return fixture
    }

    @Test("A copy verifies clean and has all that there was, with its history and its members")
    func whole() async throws {
        let fixture = try await Self.furnished()
        let target = fixture.directory.path + "-backup"
        defer { Directory.remove(target) }
        let summary = try DirectoryCopy(from: fixture.directory.path, to: target).make()
        #expect(summary.contents == 1 && summary.linked == 1 && summary.sharedBytes == 100_000)
        #expect(try await Verifier(directory: target).run().findings == [])
        let copy = try StoreFixture.open(target, clock: fixture.seconds)
        let (theirs, ours) = (
            try await fixture.store.read {
                try $0.state.changes(after: 0, prefix: .root, includeDeleted: true, limit: 99)
            },
            try await copy.read { try $0.state.changes(after: 0, prefix: .root, includeDeleted: true, limit: 99) }
        )
        #expect(theirs == ours)
        #expect(try await copy.read { try $0.revisions(try RemotePath("/a.md"), limit: 9).count } == 2)
        #expect(try await copy.members() == fixture.store.members())
        #expect(try Directory.names(in: copy.files.staging) == [])
    }

    @Test("A copy that is served begins a new journal: old cursors start over, and no revision is given twice")
    func newJournal() async throws {
        let fixture = try await Self.furnished()
        let target = fixture.directory.path + "-backup"
        defer { Directory.remove(target) }
        _ = try DirectoryCopy(from: fixture.directory.path, to: target).make()
        // The original goes on; clients see it.
        let lost = try await fixture.put("/a.md", [3])
        let start = DeltaCursor(epoch: fixture.store.epoch, member: 1)
        let (_, cursor) = try await fixture.store.read { try $0.delta(after: nil, start: start, limit: 99) }
        let listed = try await fixture.store.read {
            try $0.list(.root, unless: nil, includeDeleted: false, limit: 99)?.hash
        }

        let copy = try StoreFixture.open(target, clock: fixture.seconds)
        #expect(copy.epoch != fixture.store.epoch)
        let sealed = cursor.sealed(with: fixture.store.signingKey)
        let known = try #require(DeltaCursor(sealed: sealed, key: copy.signingKey))
        let fresh = DeltaCursor(epoch: copy.epoch, member: 1)
        let (page, _) = try await copy.read { try $0.delta(after: known, start: fresh, limit: 99) }
        #expect(page.reset)
        #expect(page.entries.map(\.key.string).sorted() == ["/a.md", "/photos", "/photos/p.jpg"])

        // The same number of changes as the original made, with other content.
        let other = try await StoreFixture.put(copy, "/a.md", [4])
        #expect(other.revision > lost.revision + 1_000_000)
        let hash = try await copy.read { try $0.list(.root, unless: nil, includeDeleted: false, limit: 99)?.hash }
        #expect(hash != listed)
        // An edit of what only the original had is a conflict, not a replacement of what another one wrote.
        let content = try #require(StagedContent(inline: [5]))
        let edit = try await copy.write(by: 1, storing: content) { folder in
            try folder.put(
                try RemotePath("/a.md"), bytes: 1, hash: content.hash,
                condition: .parent(.number(lost.revision)), policy: .rename)
        }
        #expect(edit.path.string == "/a (conflicted copy).md")
        #expect(try StoreFixture.open(target, mode: .administration, clock: fixture.seconds).epoch == copy.epoch)
        #expect(try await Verifier(directory: target).run().findings == [])
    }

    @Test("What has something in it is neither backed up to nor restored to, and stays as it is")
    func refusesFull() async throws {
        let fixture = try await Self.furnished()
        let target = try TemporaryDirectory()
        _ = try Descriptor(path: target.path + "/mine", flags: O_WRONLY | O_CREAT)
        #expect(throws: StorageError(.exists, "'\(target.path)' already exists and is not empty")) {
            try DirectoryCopy(from: fixture.directory.path, to: target.path)
        }
        #expect(try Directory.names(in: target.path) == ["mine"])
        #expect(throws: StorageError(.missing, "no club in '\(target.path)'")) {
            try DirectoryCopy(from: target.path, to: target.path + "/new")
        }
    }

    @Test("A copy that fails leaves nothing that looks like one")
    func failsWhole() async throws {
        let fixture = try await Self.furnished()
        let hash = ContentHasher.hash(randomBytes(100_000, seed: 1))
        unsafe unlink(fixture.store.files.path(of: hash))
        let parent = try TemporaryDirectory()
        #expect(throws: StorageError.self) {
            try DirectoryCopy(from: fixture.directory.path, to: parent.path + "/copy").make()
        }
        #expect(try Directory.names(in: parent.path) == [])
    }

    @Test("On another file system large contents are copied")
    func otherFileSystem() async throws {
        guard unsafe access("/dev/shm", W_OK) == 0 else { return print("skipped: no /dev/shm") }
        let fixture = try await Self.furnished()
        let parent = try TemporaryDirectory(in: "/dev/shm")
        let summary = try DirectoryCopy(from: fixture.directory.path, to: parent.path + "/copy").make()
        #expect(summary.contents == 1 && summary.linked == 0 && summary.sharedBytes == 0)
        #expect(try await Verifier(directory: parent.path + "/copy").run().findings == [])
    }
}
