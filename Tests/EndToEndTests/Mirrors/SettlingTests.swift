import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("What people decide about a mirror") struct SettlingTests {
        @Test("a conflict of spellings is told as one, is settled once, and stays settled in two mirrors")
        func spellings() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let bo = try await club.member("bo")
            try LocalFiles.write("first\n", to: ann.mirror + "/plan.md")
            try await expectSynced(ann)
            try LocalFiles.write("second\n", to: ann.mirror + "/PLAN.md")
            try LocalFiles.write("third\n", to: ann.mirror + "/dir/a.md")
            try LocalFiles.write("fourth\n", to: ann.mirror + "/Dir/b.md")
            let clash = try await ann.sync()
            #expect(clash.status == 0 && (clash.text + clash.errorText).contains("the server treats it as"), "\(clash)")
            let list = try await ann.byteclub("conflicts", "list")
            let copy = try #require(FileTree(ann.mirror).files.first { $0.hasPrefix("PLAN (ann, conflict 20") })
            #expect(list.text.contains(copy) && list.text.contains("the server treats it as 'plan.md'"))
            #expect(try await ann.byteclub("conflicts", "show", "plan.md").text.contains("+second"))
            for name in ["PLAN.md", "Dir", "dir"] {
                let settled = try await ann.byteclub("conflicts", "resolve", name, "--keep", "mine")
                // Either folder may have come first.
                #expect(settled.status == 0 || name != "PLAN.md" && settled.status == 66, "\(settled)")
            }
            for member in [ann, bo, ann, bo] { try await expectSynced(member) }
            try await expectEqual([ann, bo], club)
            #expect(Fixture.bytes(at: bo.mirror + "/plan.md") == Array("second\n".utf8))
            let files = FileTree(bo.mirror).files
            #expect(files.count == 2 && !files.contains { $0.contains("conflict") }, "\(files)")
            #expect(try await ann.byteclub("conflicts", "list").text == "no conflicts\n")
        }

        @Test("a viewer is told how to take changes back, does it, and the mirror is the server's again")
        func viewer() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            for name in ["a.md", "b.md", "dir/c.md"] { try LocalFiles.write(name + "\n", to: ann.mirror + "/" + name) }
            try await expectSynced(ann)
            let token = try await club.server.addMember("cy", role: "viewer")
            let cy = club.machine("cy")
            let login = try await cy.byteclub(
                "login", club.server.url, "--token-stdin", input: Array((token + "\n").utf8))
            #expect(login.status == 0, "\(login)")
            try await expectSynced(cy)
            let server = try await club.api.fingerprint()

            try LocalFiles.write("edited\n", to: cy.mirror + "/a.md")
            try LocalFiles.write("new\n", to: cy.mirror + "/new/n.md")
            TemporaryDirectory.remove(cy.mirror + "/b.md")
            #expect(unsafe rename(cy.mirror + "/dir", cy.mirror + "/other") == 0)
            let refused = try await cy.sync()
            #expect(refused.status == 77 && refused.errorText.contains("byteclub sync revert"), "\(refused)")
            #expect(try await cy.byteclub("status", cy.mirror).text.contains("byteclub sync revert"))
            let changed = FileTree(cy.mirror)
            let dry = try await cy.byteclub("sync", "revert", "--dry-run")
            #expect(dry.status == 0 && dry.text.contains("new/: new, would be moved to the trash\n"), "\(dry)")
            #expect(FileTree(cy.mirror) == changed)

            let result = try await cy.byteclub("sync", "revert")
            #expect(
                result.text == """
                    a.md: edited, moved to the trash
                    b.md: deleted, will be downloaded again
                    new/: new, moved to the trash
                    other/: moved, went back to dir
                    the next sync downloads the server's files
                    your files are in '\(cy.mirror)/.byteclub/trash'

                    """, "\(result)")
            try await expectSynced(cy)
            try await expectEqual([ann, cy], club)
            #expect(try await club.api.fingerprint() == server)
            let again = try await cy.byteclub("sync", "revert")
            #expect(again.status == 0 && again.text == "no local changes to revert\n")
            let nowhere = try await cy.byteclub("sync", "revert", "nowhere.md")
            expectRefusal(nowhere, [66], mentioning: "nowhere.md")
        }
    }
}
