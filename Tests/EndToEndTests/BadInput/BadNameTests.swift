import ByteClubCore
import HTTPTypes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Bad names and files") struct BadNameTests {
        @Test(
            "a note's name that leads out of the folder, has dots or 300 characters is one line and 65, and changes nothing"
        )
        func badNames() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let before = try await club.api.fingerprint()
            let names = [
                "a/../b.md", "../a.md", "..", ".", "/etc/passwd", "a\\b.md", "bell\u{7}.md",
                String(repeating: "n", count: 300), "desktop.ini",
            ]
            for name in names {
                expectRefusal(try await ann.byteclub("notes", "add", name, input: Array("text".utf8)), [65])
                let shown = try await ann.byteclub("notes", "show", name)
                expectRefusal(shown, [65, 66])
            }
            #expect(try await club.api.fingerprint() == before)
        }

        @Test("a name with NUL, which no command line can hold, is refused by the server")
        func nulName() async throws {
            let club = try await Club.start()
            let before = try await club.api.fingerprint()
            for name in ["a%00b.md", "%00", "..%00/x", "a%01.md", "a%5Cb.md", "%ff%fe.md", "%80"] {
                let answer = try await club.api.send(
                    .put, "/1/files_put/dropbox/byteclub/\(name)?overwrite=true", body: [1])
                #expect(answer.status == 400, "\(name): \(answer)")
            }
            #expect(try await club.api.fingerprint() == before)
        }

        @Test("what is no JPEG is one line and 65, and is not uploaded")
        func noJPEG() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let before = try await club.api.fingerprint()
            try LocalFiles.write("no photo", to: ann.home + "/text.jpg")
            try LocalFiles.write("", to: ann.home + "/empty.jpg")
            try LocalFiles.write([0xFF, 0xD8, 0xFF], to: ann.home + "/stub.jpg")
            for file in [Fixture.path("panoramas/not-a-photo.jpg"), "text.jpg", "empty.jpg", "stub.jpg"] {
                expectRefusal(try await ann.byteclub("photos", "upload", file), [65])
            }
            expectRefusal(try await ann.byteclub("photos", "upload", "missing.jpg"), [66])
            expectRefusal(try await ann.byteclub("photos", "upload", ann.mirror), [65], mentioning: "no JPEG photo in")
            let folder = try await ann.byteclub("photos", "upload", ann.home)
            #expect(folder.status == 65 && folder.errorLines.count == 3, "a line for each: \(folder)")
            #expect(try await club.api.fingerprint() == before)
        }

        @Test("what is not there is one line and 66; a command that makes no sense is 64")
        func missingThings() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            expectRefusal(try await ann.byteclub("notes", "show", "none.md"), [66])
            expectRefusal(try await ann.byteclub("notes", "rm", "none.md"), [66])
            expectRefusal(try await ann.byteclub("photos", "rm", "none.jpg"), [66])
            let download = try await ann.byteclub("photos", "download", "none.jpg", "-o", ann.home + "/x.jpg")
            expectRefusal(download, [66], afterProgress: true)
            expectRefusal(
                try await ann.byteclub("photos", "thumbnail", "none.jpg", "-o", ann.home + "/x.jpg"), [66])
            expectRefusal(try await ann.byteclub("notes", "add", "x.md", "missing.md"), [66])
            #expect(!LocalFiles.exists(ann.home + "/x.jpg"))
            for command in [["notes", "frobnicate"], ["sync", "--no-such-flag"], ["photos", "upload"], ["login"]] {
                let result = try await ann.start(command).result()
                #expect(result.status == 64 && !result.errorText.isEmpty && result.output.isEmpty, "\(result)")
            }
        }

        @Test("an existing note is not replaced without --force")
        func existingNote() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            #expect(try await ann.byteclub("notes", "add", "a.md", input: Array("one".utf8)).status == 0)
            let again = try await ann.byteclub("notes", "add", "a.md", input: Array("two".utf8))
            expectRefusal(again, [73, 75])
            #expect(try await ann.byteclub("notes", "show", "a.md").output == Array("one".utf8))
            let forced = try await ann.byteclub("notes", "add", "a.md", "--force", input: Array("two".utf8))
            #expect(forced.status == 0, "\(forced)")
            #expect(try await ann.byteclub("notes", "show", "a.md").output == Array("two".utf8))
        }

        @Test("a note of any bytes comes back exactly")
        func exactBytes() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            for content in [[], Array("no newline".utf8), bytes] {
                let added = try await ann.byteclub("notes", "add", "raw.md", "--force", input: content)
                #expect(added.status == 0, "\(added)")
                let shown = try await ann.byteclub("notes", "show", "raw.md")
                #expect(shown.output == content)
            }
            let listed = try await ann.byteclub("notes", "list", "--json")
            let notes = try JSONValue.parse(listed.output).elements
            #expect(notes.count == 1 && notes.first?["path"]?.text == "/byteclub/raw.md", "\(listed)")
            #expect(notes.first?["hash"]?.text == ContentHasher.hash(bytes).description)
        }
    }
}
