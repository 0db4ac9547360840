import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A mirror under its member's commands") struct CommandedMirrorTests {
        @Test(
            "a sync that goes on obeys a pause, its end and the selection, and verify agrees afterwards",
            arguments: Wire.tried)
        func obeys(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            try LocalFiles.write("one\n", to: ann.mirror + "/trips/one.md")
            let process = try ann.start(["sync", ann.mirror])
            try await eventually("the first note goes up") {
                try await club.api.hashes()["/byteclub/trips/one.md"] != nil
            }
            let paused = try await ann.byteclub("sync", "pause")
            #expect(paused.status == 0, "\(paused)")
            try LocalFiles.write("two\n", to: ann.mirror + "/two.md")
            let told = "byteclub: paused until 'byteclub sync resume'"
            #expect(await process.line(of: .errors) { $0 == told } == told)
            #expect(try await club.api.hashes()["/byteclub/two.md"] == nil)
            let resumed = try await ann.byteclub("sync", "resume")
            #expect(resumed.status == 0, "\(resumed)")
            try await eventually("the second note goes up") {
                try await club.api.hashes()["/byteclub/two.md"] != nil
            }
            let deselected = try await ann.byteclub("sync", "deselect", "trips")
            #expect(deselected.status == 0, "\(deselected)")
            try await eventually("the folder goes from this machine") {
                !FileTree(ann.mirror).files.contains("trips/one.md")
            }
            #expect(try await club.api.hashes()["/byteclub/trips/one.md"] != nil)
            let selected = try await ann.byteclub("sync", "select", "trips")
            #expect(selected.status == 0, "\(selected)")
            try await eventually("the folder comes back") { FileTree(ann.mirror).files.contains("trips/one.md") }
            process.send(SIGINT)
            let result = await process.result()
            #expect(result.status == 130, "\(result)")
            try await expectSynced(ann)
            let verified = try await ann.byteclub("sync", "verify", ann.mirror)
            #expect(verified.status == 0 && verified.text.hasSuffix("agree\n"), "\(verified)")
        }

        @Test("a mirror in which nothing happens gives back what its first sync needed", arguments: Wire.tried)
        func rests(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            for number in 0..<600 {
                try LocalFiles.write("note \(number)\n", to: ann.mirror + "/\(number % 30)/\(number).md")
            }
            let process = try ann.start(["sync", ann.mirror])
            try await eventually("the notes go up") { process.currentPeakMemory() > 25_000_000 }
            try await eventually("memory is given back") {
                process.hasEnded || process.currentMemory() < 25_000_000
            }
            #expect(!process.hasEnded)
            process.send(SIGINT)
            _ = await process.result()
            try await expectSynced(ann)
            #expect(try await club.api.hashes().values.count { $0 != nil } == 600)
        }
    }
}
