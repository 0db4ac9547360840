import ByteClubCore
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Two mirrors") struct MirrorTests {
        @Test(
            "1,000 notes and 20 photos converge byte for byte, and every kind of change arrives",
            arguments: Wire.tried)
        func convergence(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            let bo = try await club.member("bo")
            var generator = SeededGenerator(seed: Sample.seed("mirrors"))
            try fill(ann.mirror, &generator)

            try await expectSynced(ann)
            try await expectSynced(bo)
            let first = FileTree(ann.mirror)
            #expect(first.files.count == 1020)
            try await expectEqual([ann, bo], club)

            try LocalFiles.write("an edit\n", to: ann.mirror + "/note-0001.md")
            try LocalFiles.write("a new note\n", to: bo.mirror + "/fresh.md")
            TemporaryDirectory.remove(ann.mirror + "/note-0002.md")
            TemporaryDirectory.remove(bo.mirror + "/trips/2013")
            try await expectSynced(ann)
            try await expectSynced(bo)
            try await expectSynced(ann)
            try await expectEqual([ann, bo], club)
            let second = FileTree(ann.mirror)
            #expect(
                second.entries["note-0001.md"] == .file(bytes: 8, hash: ContentHasher.hash(Array("an edit\n".utf8))))
            #expect(second.entries["fresh.md"] != nil)
            #expect(second.entries["note-0002.md"] == nil)
            #expect(second.entries["trips"] == .folder)
            #expect(!second.entries.keys.contains { $0.hasPrefix("trips/2013") })
            #expect(second.files.count == 1020 - 10)
        }

        @Test("an edit on both sides leaves both texts, one as a conflict copy", arguments: Wire.tried)
        func bothEdit(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            let bo = try await club.member("bo")
            try LocalFiles.write("We meet at six.\n", to: ann.mirror + "/plan.md")
            try await expectSynced(ann)
            try await expectSynced(bo)
            try LocalFiles.write("We meet at seven, says Ann.\n", to: ann.mirror + "/plan.md")
            try LocalFiles.write("We meet at eight, says Bo.\n", to: bo.mirror + "/plan.md")
            try await expectSynced(ann)
            try await expectSynced(bo)
            try await expectSynced(ann)
            try await expectEqual([ann, bo], club)
            let files = FileTree(ann.mirror).files
            #expect(files.count == 2)
            let copy = try #require(files.first { $0 != "plan.md" })
            #expect(files.contains("plan.md"))
            #expect(copy.hasPrefix("plan (bo, conflict ") && copy.hasSuffix(").md"), "\(copy)")
            let texts = Set(files.map { String(decoding: Fixture.bytes(at: ann.mirror + "/" + $0), as: UTF8.self) })
            #expect(texts == ["We meet at seven, says Ann.\n", "We meet at eight, says Bo.\n"])
        }

        @Test("a sync with nothing to do changes nothing and says so", arguments: Wire.tried)
        func nothingToDo(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            var generator = SeededGenerator(seed: 7)
            for index in 0..<30 {
                let note = Sample.note("n\(index)", length: 300, using: &generator)
                try LocalFiles.write(note, to: ann.mirror + "/folder \(index % 3)/n\(index).md")
            }
            try await expectSynced(ann)
            let server = try await club.api.fingerprint()
            let mirror = FileTree(ann.mirror)
            let result = try await ann.sync("--json")
            #expect(result.status == 0, "\(result)")
            let events = try JSONValue.lines(result.output)
            #expect(events.count == 1, "\(result)")
            let summary = try #require(events.last)
            #expect(summary["event"]?.text == "summary")
            let changes = ["uploaded", "downloaded", "deleted", "conflicts", "failed"]
            for (name, value) in summary.members where value.isNumber {
                let counts = changes.contains { name.lowercased().contains($0.dropLast(2)) }
                if counts { #expect(value.number == 0, "\(name) in \(result)") }
            }
            #expect(try await club.api.fingerprint() == server)
            #expect(FileTree(ann.mirror) == mirror)
        }

        @Test("--dry-run tells what would be done and does nothing", arguments: Wire.tried)
        func dryRun(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            try LocalFiles.write("text\n", to: ann.mirror + "/a.md")
            let put = try await club.api.put(Array("other\n".utf8), "/byteclub/b.md")
            #expect(put.status == 200, "\(put)")
            let server = try await club.api.fingerprint()
            let mirror = FileTree(ann.mirror)
            let result = try await ann.sync("--dry-run")
            #expect(result.status == 0, "\(result)")
            #expect(result.text.contains("a.md") && result.text.contains("b.md"), "\(result)")
            #expect(try await club.api.fingerprint() == server)
            #expect(FileTree(ann.mirror) == mirror)
        }

        @Test("what two mirrors that keep syncing are given arrives in both by itself", arguments: Wire.tried)
        func continuous(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            let bo = try await club.member("bo")
            try LocalFiles.write("start\n", to: ann.mirror + "/start.md")
            try await expectSynced(ann)
            let running = try [ann, bo].map { try $0.start(["sync", $0.mirror], timeout: .seconds(120)) }
            try await eventually("bo has the first note") { LocalFiles.exists(bo.mirror + "/start.md") }
            for round in 0..<5 {
                let (from, to) = round.isMultiple(of: 2) ? (ann, bo) : (bo, ann)
                try LocalFiles.write("round \(round)\n", to: from.mirror + "/start.md")
                try LocalFiles.write("round \(round)\n", to: from.mirror + "/deep/er/\(round).md")
                try await eventually("round \(round) arrives") {
                    Fixture.bytes(at: to.mirror + "/start.md") == Array("round \(round)\n".utf8)
                        && Fixture.bytes(at: to.mirror + "/deep/er/\(round).md") == Array("round \(round)\n".utf8)
                }
            }
            TemporaryDirectory.remove(ann.mirror + "/deep")
            try await eventually("the folder goes") { !LocalFiles.exists(bo.mirror + "/deep") }
            for process in running {
                process.send(2)
                let result = await process.result()
                #expect(result.status == 130, "\(result)")
            }
            try await expectEqual([ann, bo], club)
        }

        private func fill(_ mirror: String, _ generator: inout SeededGenerator) throws {
            for index in 0..<1000 {
                let note = Sample.note("note \(index)", length: 200 + index * 3, using: &generator)
                let place =
                    switch index % 100 {
                    case 7: "trips/2013/día \(index).md"
                    case 8: "trips/été & co/\(index) 100%.md"
                    default: "note-\(String(repeating: "0", count: 4 - String(index).count))\(index).md"
                    }
                try LocalFiles.write(note, to: mirror + "/" + place)
            }
            for index in 0..<20 {
                try LocalFiles.write(
                    Sample.photo(index, using: &generator), to: mirror + "/photos/photo \(index).jpg")
            }
        }
    }
}
