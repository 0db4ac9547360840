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
            ("a portal that wants a sign-in", .own(LyingProxy.refusal(401))),
            ("a proxy that finds nothing", .own(LyingProxy.refusal(404))),
            ("silence", .silence),
            ("no HTTP", .noise),
        ]

        @Test(
            "is told in one line with the right exit code, and damages neither mirror nor server",
            arguments: Wire.tried)
        func lies(wire: Wire) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (name, lie) in Self.lies {
                    group.addTask { try await LyingServerTests.tell(lie, "\(name), \(wire)", wire) }
                }
                try await group.waitForAll()
            }
        }

        private static func tell(_ lie: LyingProxy.Lie, _ name: String, _ wire: Wire) async throws {
            let liar = try await LiarClub.start(wire)
            let (club, ann) = (liar.club, liar.ann)
            try LocalFiles.write("a note\n", to: ann.mirror + "/mine.md")
            try await expectSynced(ann)
            // The small one comes with the feed where the server can do that, the large one by itself.
            var generator = SeededGenerator(seed: 3)
            let theirs = ["theirs.md": 5000, "long.md": 100_000].mapValues { length in
                Sample.note("theirs", length: length, using: &generator)
            }
            for (path, bytes) in theirs { #expect(try await club.api.put(bytes, "/byteclub/" + path).status == 200) }
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
            for prefix in ["/1/", wire.feed] {
                liar.lie.withLock { $0 = (lie, prefix) }
                // Another byte may stand for as good an answer, as in a quota; what it keeps back comes with the next
                // truth.
                let isAnswer = "\(lie)" == "\(LyingProxy.Lie.flippedByte)"
                try await expectRefused(ann, "\(name) of \(prefix)", or: isAnswer ? [0] : [])
                let difference = FileTree(ann.mirror).difference(from: mirror).filter { line in
                    // What is true of a feed that lies about one byte may be taken.
                    !theirs.contains { path, bytes in
                        line.hasPrefix(path) && Fixture.bytes(at: ann.mirror + "/" + path) == bytes
                    }
                }
                #expect(difference.isEmpty, "\(name) of \(prefix) changed the mirror")
                #expect(try await club.api.fingerprint() == server, "\(name) of \(prefix) changed the server")
            }
            #expect(liar.proxy.count >= 4)

            // The same lie about the content alone, when all that leads to it is true.
            liar.lie.withLock { $0 = (lie, "/1/files/") }
            let isThere = LocalFiles.exists(ann.mirror + "/long.md")
            try await expectRefused(ann, name + " of content", or: isThere ? [0] : [])
            #expect(
                LocalFiles.exists(ann.mirror + "/long.md") == isThere, "\(name) of content changed the mirror")
            #expect(try await club.api.fingerprint() == server, "\(name) of content changed the server")

            // And about what becomes of a note that is sent.
            try LocalFiles.write("sent\n", to: ann.mirror + "/sent.md")
            liar.lie.withLock { $0 = (lie, wire.uploads) }
            let sent = try await ann.sync()
            #expect([0, 69, 75, 76].contains(sent.status), "\(name) of an upload: \(sent)")

            liar.lie.withLock { $0 = nil }
            try await expectSynced(ann)
            for (path, bytes) in theirs { #expect(Fixture.bytes(at: ann.mirror + "/" + path) == bytes, "\(name)") }
            #expect(FileTree(ann.mirror).files == ["long.md", "mine.md", "sent.md", "theirs.md"], "\(name)")
            try await expectEqual([ann], club)
        }

        private static func expectRefused(_ ann: MemberMachine, _ what: String, or others: [Int32] = []) async throws {
            let result = try await ann.sync()
            #expect(([69, 75, 76] + others).contains(result.status), "\(what): \(result)")
            #expect(!result.errorText.isEmpty, "\(what): \(result)")
        }

        @Test("names that lead out of the mirror are never written", arguments: Wire.tried)
        func escapingNames(wire: Wire) async throws {
            let liar = try await LiarClub.start(wire)
            let (club, ann) = (liar.club, liar.ann)
            try LocalFiles.write("a note\n", to: ann.mirror + "/mine.md")
            try await expectSynced(ann)
            let home = FileTree(ann.home).entries.filter { !$0.key.hasPrefix("state") }
            let mirror = FileTree(ann.mirror)
            let folder = try await club.api.node(of: "byteclub")
            for name in [
                "../../escaped.md", "../escaped.md", "a/../../../escaped.md", "a\\u0000b.md", ".byteclub/escaped.md",
                ".byteclub", "..", ".", "", "/", "/etc/escaped.md",
            ] where wire == .extended || !name.hasPrefix("/") {
                liar.lie.withLock {
                    $0 = (.instead(status: 200, body: Self.page(wire, telling: name, in: folder)), wire.feed)
                }
                let result = try await ann.sync()
                #expect(result.signal == nil && !result.isTimedOut, "\(name): \(result)")
                #expect(FileTree(ann.mirror).difference(from: mirror).isEmpty, "\(name)")
                let now = FileTree(ann.home).entries.filter {
                    !$0.key.hasPrefix("state") && !$0.key.contains(".byteclub")
                }
                #expect(now == home.filter { !$0.key.contains(".byteclub") }, "\(name) was written")
                #expect(!LocalFiles.exists(club.folder.path + "/escaped.md"))
            }
            liar.lie.withLock { $0 = nil }
            let last = try await ann.sync()
            #expect(last.signal == nil && !last.isTimedOut, "\(last)")
        }

        /// A page of the feed that tells of one file with a bad name.
        private static func page(_ wire: Wire, telling name: String, in folder: NodeID) -> String {
            switch wire {
            case .plain:
                """
                {"reset": false, "cursor": "x", "has_more": false, "entries": [["/byteclub/\(name.lowercased())", \
                {"path": "/byteclub/\(name)", "is_dir": false, "bytes": 2, "rev": "900000001", "revision": 9, \
                "size": "2 bytes", "icon": "page_white", "root": "dropbox", "thumb_exists": false}]]}
                """
            case .extended:
                """
                {"reset": false, "cursor": "x", "has_more": false, "entries": [{"id": 900000001, "parent": \(folder), \
                "name": "\(name)", "folder": false, "rev": 900000001, "place_rev": 900000001, "seq": 900000001, \
                "bytes": 2, "hash": "\(ContentHasher.hash(Array("hi".utf8)))", "modified": 1, "by": 1, "inline": true}]}
                hi
                """
            }
        }

        @Test("a server that suddenly has nothing does not empty the mirror", arguments: Wire.tried)
        func emptied(wire: Wire) async throws {
            let liar = try await LiarClub.start(wire)
            for index in 0..<60 { try LocalFiles.write("note \(index)\n", to: liar.ann.mirror + "/\(index).md") }
            try await expectSynced(liar.ann)
            let mirror = FileTree(liar.ann.mirror)
            let server = try await liar.club.api.hashes()
            let page = "{\"reset\": true, \"cursor\": \"x\", \"has_more\": false, \"entries\": []}\n"
            liar.lie.withLock { $0 = (.instead(status: 200, body: page), wire.feed) }
            let result = try await liar.ann.sync()
            #expect([0, 69, 75, 76].contains(result.status), "\(result)")
            #expect(FileTree(liar.ann.mirror).difference(from: mirror).isEmpty)
            #expect(try await liar.club.api.hashes() == server)
            liar.lie.withLock { $0 = nil }
            try await expectSynced(liar.ann)
            #expect(FileTree(liar.ann.mirror).difference(from: mirror).isEmpty)
            #expect(try await liar.club.api.hashes() == server)
        }

        @Test("an answer that is lost on its way makes no second copy", arguments: Wire.tried)
        func lostAnswer(wire: Wire) async throws {
            let liar = try await LiarClub.start(wire)
            for index in 0..<10 { try LocalFiles.write("note \(index)\n", to: liar.ann.mirror + "/\(index).md") }
            liar.lie.withLock { $0 = (.silence, wire.uploads) }
            let result = try await liar.ann.sync()
            #expect([0, 69, 75].contains(result.status) && liar.proxy.count > 0, "\(result)")
            try LocalFiles.write("edited\n", to: liar.ann.mirror + "/3.md")
            TemporaryDirectory.remove(liar.ann.mirror + "/4.md")
            liar.lie.withLock { $0 = nil }
            try await expectSynced(liar.ann)
            let rest = (0..<10).filter { $0 != 4 }.map { "\($0).md" }
            #expect(FileTree(liar.ann.mirror).files.filter { $0 != "4.md" } == rest)
            #expect(Fixture.bytes(at: liar.ann.mirror + "/3.md") == Array("edited\n".utf8))
            try await expectEqual([liar.ann], liar.club)
        }

        @Test("a mirror that changes between the two protocols transfers nothing and deletes nothing")
        func changingWires() async throws {
            let club = try await Club.start()
            var ann = try await club.member("ann")
            for index in 0..<30 {
                try LocalFiles.write("note \(index)\n", to: ann.mirror + "/f\(index % 3)/\(index).md")
            }
            try await expectSynced(ann)
            let mirror = FileTree(ann.mirror)
            let server = try await club.api.fingerprint()
            for wire in [Wire.plain, .extended, .plain, .extended] {
                ann.environment["BYTECLUB_PLAIN"] = wire.environment["BYTECLUB_PLAIN"] ?? ""
                try await expectSynced(ann)
                #expect(FileTree(ann.mirror).difference(from: mirror).isEmpty)
                #expect(try await club.api.fingerprint() == server)
            }
            // An edit here and one there while the wire changes.
            try LocalFiles.write("mine\n", to: ann.mirror + "/f0/0.md")
            #expect(try await club.api.put(Array("theirs\n".utf8), "/byteclub/f1/1.md").status == 200)
            TemporaryDirectory.remove(ann.mirror + "/f2/2.md")
            ann.environment["BYTECLUB_PLAIN"] = "1"
            try await expectSynced(ann)
            try await expectEqual([ann], club)
            #expect(FileTree(ann.mirror).files.count == 29)
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

    static func start(_ wire: Wire) async throws -> LiarClub {
        let club = try await Club.start(wire)
        let lie = Switch()
        let proxy = try LyingProxy(to: club.server.port) { lie.lie(about: $0) }
        return LiarClub(club: club, proxy: proxy, ann: try await club.member("ann", through: proxy.url), lie: lie)
    }
}
