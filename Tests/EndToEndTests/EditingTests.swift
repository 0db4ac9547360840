import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Editing a note") struct EditingTests {
        @Test("a save while the editor is open loses nobody's text")
        func concurrentSave() async throws {
            let club = try await Club.start()
            let bo = try await club.member("bo")
            #expect(try await club.api.put(Array("We meet at six.\n".utf8), "/byteclub/plan.md").status == 200)
            let editor = try Self.editor(
                bo,
                "touch \"$HOME/opened\"; until [ -e \"$HOME/go\" ]; do sleep 0.01; done; echo 'Bo was here.' >> \"$1\"")
            let process = try bo.start(["notes", "edit", "plan.md"], environment: editor)
            try await eventually("the editor opens") { LocalFiles.exists(bo.home + "/opened") }
            #expect(try await club.api.put(Array("Ann says seven.\n".utf8), "/byteclub/plan.md").status == 200)
            try LocalFiles.write("", to: bo.home + "/go")
            let result = await process.result()
            #expect(
                result.status == 75 && (result.text + result.errorText).contains("plan (bo, conflict "), "\(result)")
            var texts: [String] = []
            for metadata in try await club.api.tree("/byteclub").values where !metadata.isFolder {
                texts.append(String(decoding: try await club.api.get(metadata.path.string).bytes, as: UTF8.self))
            }
            #expect(texts.sorted() == ["Ann says seven.\n", "We meet at six.\nBo was here.\n"], "\(result)")
            let plan = try await club.api.get("/byteclub/plan.md")
            #expect(plan.bytes == Array("Ann says seven.\n".utf8))
        }

        @Test("an edit is saved, an edit of nothing is not, and a failed editor saves nothing")
        func outcomes() async throws {
            let club = try await Club.start()
            let bo = try await club.member("bo")
            #expect(try await club.api.put(Array("one\n".utf8), "/byteclub/a.md").status == 200)
            let saved = try await bo.byteclub(
                "notes", "edit", "a.md", environment: try Self.editor(bo, "echo two >> \"$1\""))
            #expect(saved.status == 0, "\(saved)")
            #expect(try await club.api.get("/byteclub/a.md").bytes == Array("one\ntwo\n".utf8))
            let before = try await club.api.fingerprint()
            let nothing = try await bo.byteclub("notes", "edit", "a.md", environment: try Self.editor(bo, "true"))
            #expect(nothing.status == 0, "\(nothing)")
            let failed = try await bo.byteclub("notes", "edit", "a.md", environment: try Self.editor(bo, "exit 3"))
            #expect(failed.status != 0 && failed.errorLines.count == 1, "\(failed)")
            #expect(try await club.api.fingerprint() == before)
        }

        @Test("a text that cannot be saved because the server went away is kept and can be saved later")
        func serverGone() async throws {
            let club = try await Club.start()
            let bo = try await club.member("bo")
            #expect(try await club.api.put(Array("one\n".utf8), "/byteclub/a.md").status == 200)
            let editor = try Self.editor(
                bo, "touch \"$HOME/opened\"; until [ -e \"$HOME/go\" ]; do sleep 0.01; done; echo two >> \"$1\"")
            let process = try bo.start(["notes", "edit", "a.md"], environment: editor)
            try await eventually("the editor opens") { LocalFiles.exists(bo.home + "/opened") }
            await club.server.kill9()
            try LocalFiles.write("", to: bo.home + "/go")
            let result = await process.result()
            expectRefusal(result, [69, 75], mentioning: "--recover")
            try await club.server.start()
            let recovered = try await bo.byteclub(
                "notes", "edit", "a.md", "--recover", environment: try Self.editor(bo, "true"))
            #expect(recovered.status == 0, "\(recovered)")
            #expect(try await club.api.get("/byteclub/a.md").bytes == Array("one\ntwo\n".utf8))
        }

        /// An editor that is a shell script.
        private static func editor(_ member: MemberMachine, _ script: String) throws -> [String: String] {
            let path = member.home + "/editor"
            try LocalFiles.write("#!/bin/sh\n\(script)\n", to: path)
            unsafe chmod(path, 0o755)
            return ["EDITOR": path, "VISUAL": ""]
        }
    }
}
