import ByteClubCore
import Synchronization
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A server that lies") struct LyingServerTests {
        private static let lies: [(name: String, lie: LyingProxy.Lie)] = [
            ("a truncated body", .truncated),
            ("a length that is too short", .shortLength),
            ("a flipped byte", .flippedByte),
            ("status 500", .instead(status: 500, body: "{\"error\": \"broken\"}")),
            ("garbage for JSON", .instead(status: 200, body: "<html>{{{")),
            ("JSON of another shape", .instead(status: 200, body: "[[1, {\"path\": 5}], null]")),
            ("JSON nested too deep", .instead(status: 200, body: String(repeating: "[", count: 50_000))),
            ("an empty body", .instead(status: 200, body: "")),
            ("silence", .silence),
            ("no HTTP", .noise),
        ]

        @Test("is told in one line with the right exit code, and damages neither mirror nor server")
        func lies() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (name, lie) in Self.lies {
                    group.addTask { try await LyingServerTests.tell(lie, name) }
                }
                try await group.waitForAll()
            }
        }

        private static func tell(_ lie: LyingProxy.Lie, _ name: String) async throws {
            let liar = try await LiarClub.start()
            let (club, ann) = (liar.club, liar.ann)
            try LocalFiles.write("a note\n", to: ann.mirror + "/mine.md")
            try await expectSynced(ann)
            var generator = SeededGenerator(seed: 3)
            let theirs = Sample.note("theirs", length: 5000, using: &generator)
            #expect(try await club.api.put(theirs, "/byteclub/theirs.md").status == 200)
            let mirror = FileTree(ann.mirror)
            let server = try await club.api.fingerprint()

            liar.lie.withLock { $0 = (lie, "/1/") }
            for command in [["notes", "list"], ["notes", "show", "mine.md"]] {
                let result = try await ann.start(command).result()
                if case .flippedByte = lie {
                    // A change inside a text cannot always be seen in a listing; a crash can.
                    #expect(result.signal == nil && !result.isTimedOut, "\(name): \(result)")
                } else {
                    #expect([69, 75, 76].contains(result.status), "\(name): \(result)")
                    #expect(result.errorLines.count == 1, "\(name): \(result)")
                    #expect(result.output.isEmpty, "\(name): \(result)")
                }
            }
            let sync = try await ann.sync()
            #expect([69, 75, 76].contains(sync.status), "\(name): \(sync)")
            #expect(!sync.errorText.isEmpty, "\(name): \(sync)")
            #expect(FileTree(ann.mirror).difference(from: mirror).isEmpty, "\(name) changed the mirror")
            #expect(try await club.api.fingerprint() == server, "\(name) changed the server")
            #expect(liar.proxy.count >= 3)

            // The same lie about the content alone, when all that leads to it is true.
            liar.lie.withLock { $0 = (lie, "/1/files/") }
            let content = try await ann.sync()
            #expect([69, 75, 76].contains(content.status), "\(name): \(content)")
            #expect(FileTree(ann.mirror).difference(from: mirror).isEmpty, "\(name) of content changed the mirror")
            #expect(try await club.api.fingerprint() == server, "\(name) of content changed the server")

            liar.lie.withLock { $0 = nil }
            try await expectSynced(ann)
            #expect(Fixture.bytes(at: ann.mirror + "/theirs.md") == theirs, "\(name)")
            try await expectEqual([ann], club)
        }

        @Test("names that lead out of the mirror are never written")
        func escapingNames() async throws {
            let liar = try await LiarClub.start()
            let (club, ann) = (liar.club, liar.ann)
            try LocalFiles.write("a note\n", to: ann.mirror + "/mine.md")
            try await expectSynced(ann)
            let home = FileTree(ann.home).entries.filter { !$0.key.hasPrefix("state") }
            let mirror = FileTree(ann.mirror)
            for path in [
                "/byteclub/../../escaped.md", "/byteclub/../escaped.md", "/byteclub/a/../../../escaped.md",
                "/byteclub/a\\u0000b.md", "/byteclub/.byteclub/escaped.md", "/byteclub/.byteclub",
            ] {
                let key = path.lowercased()
                let entry = """
                    {"path": "\(path)", "is_dir": false, "bytes": 2, "rev": "900000001", "revision": 9, "size": "2 bytes", \
                    "icon": "page_white", "root": "dropbox", "thumb_exists": false}
                    """
                let page = """
                    {"reset": false, "cursor": "x", "has_more": false, "entries": [["\(key)", \(entry)]]}
                    """
                liar.lie.withLock { $0 = (.instead(status: 200, body: page), "/1/delta") }
                let result = try await ann.sync()
                #expect(result.signal == nil && !result.isTimedOut, "\(path): \(result)")
                #expect(FileTree(ann.mirror).difference(from: mirror).isEmpty, "\(path)")
                let now = FileTree(ann.home).entries.filter {
                    !$0.key.hasPrefix("state") && !$0.key.contains(".byteclub")
                }
                #expect(now == home.filter { !$0.key.contains(".byteclub") }, "\(path) was written")
                #expect(!LocalFiles.exists(club.folder.path + "/escaped.md"))
            }
            liar.lie.withLock { $0 = nil }
            let last = try await ann.sync()
            #expect(last.signal == nil && !last.isTimedOut, "\(last)")
        }

        @Test("a server that suddenly has nothing does not empty the mirror")
        func emptied() async throws {
            let liar = try await LiarClub.start()
            for index in 0..<60 { try LocalFiles.write("note \(index)\n", to: liar.ann.mirror + "/\(index).md") }
            try await expectSynced(liar.ann)
            let mirror = FileTree(liar.ann.mirror)
            let page = "{\"reset\": true, \"cursor\": \"x\", \"has_more\": false, \"entries\": []}"
            liar.lie.withLock { $0 = (.instead(status: 200, body: page), "/1/delta") }
            let result = try await liar.ann.sync()
            #expect(result.status == 75 && !result.errorText.isEmpty, "\(result)")
            #expect(FileTree(liar.ann.mirror).difference(from: mirror).isEmpty)
            liar.lie.withLock { $0 = nil }
            let again = try await liar.ann.sync()
            #expect(again.signal == nil, "\(again)")
            #expect(FileTree(liar.ann.mirror).difference(from: mirror).isEmpty)
        }

        @Test("an answer that is lost on its way makes no second copy")
        func lostAnswer() async throws {
            let liar = try await LiarClub.start()
            for index in 0..<10 { try LocalFiles.write("note \(index)\n", to: liar.ann.mirror + "/\(index).md") }
            liar.lie.withLock { $0 = (.silence, "/1/files_put/") }
            let result = try await liar.ann.sync()
            #expect([0, 69, 75].contains(result.status) && liar.proxy.count > 0, "\(result)")
            liar.lie.withLock { $0 = nil }
            try await expectSynced(liar.ann)
            #expect(FileTree(liar.ann.mirror).files.count == 10)
            try await expectEqual([liar.ann], liar.club)
        }
    }
}

/// A club whose only door is a proxy that lies when it is told to.
struct LiarClub: Sendable {
    final class Switch: Sendable {
        private let current = Mutex<(lie: LyingProxy.Lie, prefix: String)?>(nil)

        func withLock(_ body: (inout sending (lie: LyingProxy.Lie, prefix: String)?) -> Void) {
            current.withLock { body(&$0) }
        }

        func lie(about target: String) -> LyingProxy.Lie? {
            current.withLock { current in current.flatMap { target.hasPrefix($0.prefix) ? $0.lie : nil } }
        }
    }

    let club: Club
    let proxy: LyingProxy
    let ann: MemberMachine
    let lie: Switch

    static func start() async throws -> LiarClub {
        let club = try await Club.start()
        let lie = Switch()
        let proxy = try LyingProxy(to: club.server.port) { lie.lie(about: $0) }
        let ann = MemberMachine("ann", in: club.folder.path)
        let token = try await club.server.addMember("ann")
        let login = try await ann.byteclub("login", proxy.url, "--token-stdin", input: Array((token + "\n").utf8))
        try #require(login.status == 0, "\(login)")
        return LiarClub(club: club, proxy: proxy, ann: ann, lie: lie)
    }
}
