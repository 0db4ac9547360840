import ByteClubCore
import Testing

@Suite("Identities")
struct SharedFolderNodesTests {
    @Test("an identity survives overwriting, moving and renaming, also of a folder above")
    func survives() throws {
        var model = ModelFolder()
        let made = try model.put("/f/a.md", "1")
        let edited = try model.put("/F/A.md", "2")
        #expect(edited.node == made.node && edited.contentRevision == edited.revision)
        #expect(edited.placeRevision == made.placeRevision)
        let renamed = try model.change { try $0.move(RemotePath("/f/a.md"), to: RemotePath("/f/A.MD")) }
        #expect(renamed.node == made.node && renamed.placeRevision == renamed.revision)
        #expect(renamed.contentRevision == edited.contentRevision)
        let moved = try model.change { try $0.move(RemotePath("/f/a.md"), to: RemotePath("/g/b.md")) }
        #expect(moved.node == made.node && moved.parent == model.state.latest(PathKey(folded: "/g"))?.node)
        let folder = try model.change { try $0.move(RemotePath("/g"), to: RemotePath("/h")) }
        let child = try #require(model.state.current(made.node))
        #expect(child.path.string == "/h/b.md" && child.parent == folder.node)
        #expect(child.placeRevision == moved.placeRevision && child.contentRevision == edited.contentRevision)
    }

    @Test("what would give something below a path that is too long is refused, and changes nothing")
    func tooLong() throws {
        var model = ModelFolder()
        let deep = "/a" + String(repeating: "/" + String(repeating: "x", count: 250), count: 16)
        _ = try model.put(deep + "/a.md", "1")
        let before = model.state.lastRevision()
        let long = try RemotePath("/" + String(repeating: "y", count: 200))
        #expect(throws: APIError.self) { try model.change { try $0.move(RemotePath("/a"), to: long) } }
        #expect(throws: APIError.self) { try model.change { try $0.copy(RemotePath("/a"), to: long) } }
        #expect(model.state.lastRevision() == before)
        _ = try model.change { try $0.move(RemotePath("/a"), to: RemotePath("/b")) }
    }

    @Test("a copy has an identity of its own, and so has all in it")
    func copies() throws {
        var model = ModelFolder()
        let file = try model.put("/f/g/a.md", "1")
        let copy = try model.change { try $0.copy(RemotePath("/f"), to: RemotePath("/c")) }
        let child = try #require(model.state.latest(PathKey(folded: "/c/g/a.md")))
        let middle = try #require(model.state.latest(PathKey(folded: "/c/g")))
        #expect(child.node != file.node && child.parent == middle.node && middle.parent == copy.node)
        #expect(Set([copy.node, middle.node, child.node]).count == 3)
    }

    @Test("restoring brings back the same entries, and making anew makes new ones")
    func restores() throws {
        var model = ModelFolder()
        let file = try model.put("/f/a.md", "1")
        let folder = try #require(model.state.latest(PathKey(folded: "/f")))
        _ = try model.change { try $0.delete(RemotePath("/f"), seen: nil) }
        #expect(model.state.current(file.node)?.isDeleted == true)
        let back = try model.change {
            try $0.restore(RemotePath("/f/a.md"), to: JournalRevision(number: file.revision))
        }
        #expect(back.node == file.node && back.parent == folder.node)
        #expect(model.state.current(folder.node)?.isDeleted == false)
        _ = try model.change { try $0.delete(RemotePath("/f"), seen: nil) }
        let anew = try model.put("/f/a.md", "1")
        #expect(anew.node != file.node && anew.parent != folder.node)
    }

    @Test("restoring the content of an entry that was moved away makes another entry")
    func restoresBesideMoved() throws {
        var model = ModelFolder()
        let file = try model.put("/a.md", "1")
        let moved = try model.change { try $0.move(RemotePath("/a.md"), to: RemotePath("/b.md")) }
        let restored = try model.change {
            try $0.restore(RemotePath("/a.md"), to: JournalRevision(number: file.revision))
        }
        #expect(restored.node != moved.node && moved.node == file.node)
        #expect(model.state.current(file.node)?.path.string == "/b.md")
    }
}
