import TestSupport
import Testing

extension EndToEnd {
    @Suite("The doctor") struct DoctorTests {
        @Test("a real club is in order; a server that is gone, a foreign certificate and a dead token are told apart")
        func diagnosis() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            #expect(try await ann.byteclub("notes", "add", "a.md", input: Array("text\n".utf8)).status == 0)
            try await expectSynced(ann)
            let good = try await ann.byteclub("doctor")
            #expect(good.status == 0 && !good.text.contains("fail") && good.errorText.isEmpty, "\(good)")
            #expect(good.text.contains("you are ann") && good.text.contains("has 1 note"), "\(good)")
            let removed = try await Program.run("byteclub", ["members", "remove", "ann", "--data", club.server.data])
            #expect(removed.status == 0)
            try await ContinuousClock().sleep(for: .milliseconds(1100))
            let dead = try await ann.byteclub("doctor", "--json")
            #expect(dead.status == 77 && dead.text.contains("byteclub login"), "\(dead)")
            // A label of 64 letters is too long to ask anybody for.
            let nowhere = "https://\(String(repeating: "n", count: 64)).invalid"
            let name = try await ann.byteclub(
                "doctor", environment: ["BYTECLUB_SERVER": nowhere, "BYTECLUB_TOKEN": "t"])
            #expect(name.status == 69 && name.text.contains("check the name"), "\(name)")
            _ = await club.server.stop()
            let gone = try await ann.byteclub("doctor")
            #expect(gone.status == 69 && gone.text.contains("check that the server is running"), "\(gone)")
        }
    }
}
