import ByteClubCore
import HTTPTypes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Going back in time") struct RestoreTests {
        @Test("after a random history a real server has what it had at a moment, to the byte")
        func randomHistory() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            var random = SeededGenerator(seed: 11)
            var moments: [(time: String, hashes: [String: ContentHash?])] = []
            for phase in 0..<3 {
                for step in 0..<25 { try await Self.change(club, "\(phase) \(step)", &random) }
                // The server's dates are whole seconds: what follows is in another one than what was.
                try await Task.sleep(for: .milliseconds(1100))
                let date = try #require(try await Self.now(club, phase))
                moments.append((date, try await Self.files(club)))
                try await Task.sleep(for: .milliseconds(1100))
            }
            for moment in moments.dropLast().reversed() {
                let dry = try await ann.byteclub("restore", "--at", moment.time, "--delete-newer", "--dry-run")
                #expect(dry.status == 0, "\(dry)")
                let result = try await ann.byteclub("restore", "--at", moment.time, "--delete-newer")
                #expect(result.status == 0, "\(result)")
                #expect(result.lines.count == dry.lines.count)
                let files = try await Self.files(club)
                let different = Set(files.keys).union(moment.hashes.keys).filter { files[$0] != moment.hashes[$0] }
                #expect(different.isEmpty, "\(different.sorted())\n\(result)")
            }
        }

        @Test("a viewer is told the role before anything else, and by each command that would change something")
        func viewer() async throws {
            let club = try await Club.start()
            let token = try await club.server.addMember("cy", role: "viewer")
            let cy = club.machine("cy")
            let login = try await cy.byteclub(
                "login", club.server.url, "--token-stdin", input: Array((token + "\n").utf8))
            #expect(login.status == 0, "\(login)")
            #expect(try await club.api.put([1], "/byteclub/a.md").status == 200)
            #expect(try await cy.byteclub("whoami").text.contains("cy (viewer) at "))
            let editor = ["EDITOR": "touch \"$HOME/opened\"; true", "VISUAL": ""]
            expectRefusal(
                try await cy.byteclub("notes", "edit", "a.md", environment: editor), [77],
                mentioning: "your role here is viewer; ask an owner for the editor role")
            #expect(!LocalFiles.exists(cy.home + "/opened"))
            expectRefusal(
                try await cy.byteclub("notes", "rm", "a.md"), [77], mentioning: "ask an owner for the editor role")
            expectRefusal(try await cy.byteclub("notes", "add", "b.md", input: [1]), [77], mentioning: "viewer")
            #expect(try await cy.byteclub("sync", cy.mirror, "--once").status == 0)
            try LocalFiles.write([2], to: cy.mirror + "/a.md")
            let edited = try await cy.byteclub("sync", cy.mirror, "--once")
            #expect(edited.status == 77 && edited.errorText.contains("a.md: your role here is viewer"), "\(edited)")
        }

        /// One change somewhere; what cannot be done as things stand is no part of the history.
        private static func change(_ club: Club, _ text: String, _ random: inout SeededGenerator) async throws {
            let folders = ["", "A/", "B/", "A/C/"]
            let path = folders[Int.random(in: 0..<4, using: &random)] + "\(Int.random(in: 0..<4, using: &random)).md"
            let other = folders[Int.random(in: 0..<4, using: &random)] + "\(Int.random(in: 0..<4, using: &random)).md"
            switch Int.random(in: 0..<10, using: &random) {
            case 0...5:
                #expect(try await club.api.put(Array(text.utf8), "/byteclub/" + path).status == 200)
            case 6: _ = try await post(club, "delete?root=auto&path=/byteclub/\(path)")
            case 7: _ = try await post(club, "move?root=auto&from_path=/byteclub/\(path)&to_path=/byteclub/\(other)")
            case 8: _ = try await post(club, "delete?root=auto&path=/byteclub/A/C")
            default: _ = try await post(club, "move?root=auto&from_path=/byteclub/A&to_path=/byteclub/B/D")
            }
        }

        private static func post(_ club: Club, _ operation: String) async throws -> Int {
            try await club.api.send(.post, "/1/fileops/" + operation).status
        }

        /// The server's clock as RFC 3339, by the date of a file that is elsewhere; the same bytes would keep their date.
        private static func now(_ club: Club, _ phase: Int) async throws -> String? {
            #expect(try await club.api.put([UInt8(phase)], "/clock").status == 200)
            guard let seconds = try await club.api.tree()["/clock"]?.modified?.seconds else { return nil }
            let date = APIDate(seconds: seconds).description.split(separator: " ")
            let months = [
                "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
            ]
            guard date.count == 6, let month = months.firstIndex(of: String(date[2])) else { return nil }
            let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
            return "\(date[3])-\(number)-\(date[1])T\(date[4])Z"
        }

        private static func files(_ club: Club) async throws -> [String: ContentHash?] {
            try await club.api.tree("/byteclub").filter { !$0.value.isFolder }.mapValues(\.contentHash)
        }
    }
}
