import ByteClubCore
import TestSupport
import Testing

extension EndToEnd {
    /// A sync that was killed has done part of its work; the next one must not take that part for somebody's edit.
    @Suite("What a killed client had done") struct OwnWorkTests {
        private static let count = 800

        @Test("a received note whose sync was killed still follows a later delete and a later edit")
        func killedDownload() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let bo = try await club.member("bo")
            try Self.fill(ann, "first")
            try await expectSynced(ann)
            try await expectSynced(bo)
            let (deleted, edited) = try await Self.kill { text in
                try Self.fill(ann, text)
                try LocalFiles.write("new\n", to: ann.mirror + "/new.md")
                try await expectSynced(ann)
                let process = try bo.start(["sync", bo.mirror, "--once"])
                let deleted = try await Self.first(where: { Self.text(bo, $0).hasPrefix(text) })
                let edited = try await Self.first(where: { $0 != deleted && Self.text(bo, $0).hasPrefix(text) })
                return (process, (deleted, edited))
            }
            TemporaryDirectory.remove(ann.mirror + "/\(deleted).md")
            try LocalFiles.write("last \(edited)\n", to: ann.mirror + "/\(edited).md")
            for member in [ann, bo, ann] { try await expectSynced(member) }
            try await expectEqual([ann, bo], club)
            #expect(!LocalFiles.exists(bo.mirror + "/\(deleted).md"), "the deleted note came back")
            #expect(Self.text(bo, edited) == "last \(edited)\n")
            let copies = FileTree(bo.mirror).files.filter { $0.contains("conflict") }
            #expect(copies.isEmpty, "nobody but ann wrote anything")
        }

        @Test("a sent note whose sync was killed can be edited again without a conflict with itself")
        func killedUpload() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            try Self.fill(ann, "first")
            try await expectSynced(ann)
            let name = try await Self.kill { text in
                try Self.fill(ann, text)
                let before = try #require(try await club.api.tree("/byteclub").values.compactMap(\.rev?.number).max())
                let process = try ann.start(["sync", ann.mirror, "--once"])
                var sent: Metadata?
                try await eventually("a note arrives") {
                    let notes = try await club.api.tree("/byteclub").values
                    sent = notes.first { !$0.isFolder && ($0.rev?.number ?? before) > before }
                    return sent != nil
                }
                return (process, try #require(sent?.path.name))
            }
            try LocalFiles.write("last\n", to: ann.mirror + "/" + name)
            try await expectSynced(ann)
            let copies = FileTree(ann.mirror).files.filter { $0.contains("conflict") }
            #expect(copies.isEmpty, "nobody but ann wrote anything")
            #expect(try await club.api.get("/byteclub/" + name).bytes == Array("last\n".utf8))
        }

        /// Kills a sync in the middle of its work, and tells what was found of that.
        ///
        /// On a slow machine it may have ended by the time it is killed; then there is another one, of other texts.
        private static func kill<Found>(
            _ sync: (_ text: String) async throws -> (SpawnedProcess, Found)
        ) async throws -> Found {
            var found: Found?
            for text in ["second", "third", "fourth", "fifth", "sixth"] where found == nil {
                let (process, seen) = try await sync(text)
                process.kill9()
                if await process.result().signal == 9 { found = seen }
            }
            return try #require(found, "each sync ended before it was killed")
        }

        private static func fill(_ member: MemberMachine, _ text: String) throws {
            for index in 0..<count {
                try LocalFiles.write("\(text) \(index)\n", to: member.mirror + "/\(index).md")
            }
        }

        private static func text(_ member: MemberMachine, _ index: Int) -> String {
            String(decoding: Fixture.bytes(at: member.mirror + "/\(index).md"), as: UTF8.self)
        }

        /// Looks again and again, without a pause, for a note of which something is true.
        private static func first(where condition: @escaping @Sendable (Int) -> Bool) async throws -> Int {
            let found = await BackgroundThread.run { () -> Int? in
                let clock = ContinuousClock()
                let end = clock.now + .seconds(60)
                while clock.now < end {
                    if let index = (0..<count).first(where: condition) { return index }
                }
                return nil
            }
            return try #require(found, "nothing arrived")
        }
    }
}
