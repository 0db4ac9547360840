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
            try Self.fill(ann, "second")
            try LocalFiles.write("new\n", to: ann.mirror + "/new.md")
            try await expectSynced(ann)

            let process = try bo.start(["sync", bo.mirror, "--once"])
            let deleted = try await Self.first(where: { Self.text(bo, $0).hasPrefix("second") })
            let edited = try await Self.first(where: { $0 != deleted && Self.text(bo, $0).hasPrefix("second") })
            process.kill9()
            let result = await process.result()
            try #require(result.signal == 9, "the sync ended before it was killed")

            TemporaryDirectory.remove(ann.mirror + "/\(deleted).md")
            try LocalFiles.write("third \(edited)\n", to: ann.mirror + "/\(edited).md")
            for member in [ann, bo, ann] { try await expectSynced(member) }
            try await expectEqual([ann, bo], club)
            #expect(!LocalFiles.exists(bo.mirror + "/\(deleted).md"), "the deleted note came back")
            #expect(Self.text(bo, edited) == "third \(edited)\n")
            let copies = FileTree(bo.mirror).files.filter { $0.contains("conflict") }
            #expect(copies.isEmpty, "nobody but ann wrote anything")
        }

        @Test("a sent note whose sync was killed can be edited again without a conflict with itself")
        func killedUpload() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            try Self.fill(ann, "first")
            try await expectSynced(ann)
            try Self.fill(ann, "second")
            let before = try #require(try await club.api.tree("/byteclub").values.compactMap(\.rev).max())
            let process = try ann.start(["sync", ann.mirror, "--once"])
            let clock = ContinuousClock()
            let end = clock.now + .seconds(10)
            var sent: Metadata?
            while sent == nil, clock.now < end {
                sent = try await club.api.tree("/byteclub").values.first { !$0.isFolder && ($0.rev ?? before) > before }
            }
            process.kill9()
            let result = await process.result()
            try #require(result.signal == 9, "the sync ended before it was killed")
            let name = try #require(sent?.path.name)
            try LocalFiles.write("third\n", to: ann.mirror + "/" + name)
            try await expectSynced(ann)
            let copies = FileTree(ann.mirror).files.filter { $0.contains("conflict") }
            #expect(copies.isEmpty, "nobody but ann wrote anything")
            #expect(try await club.api.get("/byteclub/" + name).bytes == Array("third\n".utf8))
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
                let end = clock.now + .seconds(20)
                while clock.now < end {
                    if let index = (0..<count).first(where: condition) { return index }
                }
                return nil
            }
            return try #require(found, "nothing arrived")
        }
    }
}
