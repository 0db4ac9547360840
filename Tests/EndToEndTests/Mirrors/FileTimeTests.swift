import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("What a file has beside its bytes") struct FileTimeTests {
        /// What stat(2) tells of a file's date and of who may execute it.
        private struct Traits: Hashable, CustomStringConvertible {
            let modified: FileTime?
            let executable: UInt32

            init(_ path: String) throws {
                var status = stat()
                try #require(unsafe stat(path, &status) == 0, "\(path) is not there")
                modified = FileTime(seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec))
                executable = status.st_mode & 0o111
            }

            var description: String { "\(modified?.nanoseconds ?? 0) \(executable)" }
        }

        private static func touch(_ path: String, _ time: FileTime) throws {
            let moment = timespec(tv_sec: Int(time.date.seconds), tv_nsec: Int(time.fraction))
            try #require(unsafe utimensat(AT_FDCWD, path, [moment, moment], 0) == 0, "\(path)")
        }

        private static func makeExecutable(_ path: String, _ isExecutable: Bool) throws {
            try #require(unsafe chmod(path, isExecutable ? 0o755 : 0o644) == 0, "\(path)")
        }

        private static func expectSame(_ ann: MemberMachine, _ bo: MemberMachine) throws {
            try expectEqualTraits(FileTree(ann.mirror).files.sorted(), ann.mirror, bo.mirror)
        }

        private static func expectEqualTraits(_ names: [String], _ first: String, _ second: String) throws {
            for name in names {
                let (mine, theirs) = (try Traits(first + "/" + name), try Traits(second + "/" + name))
                #expect(mine == theirs, "\(name)")
            }
        }

        @Test(
            "dates from 1970 to 2100 and executable bits are the same in a second mirror, whatever the content",
            arguments: Wire.tried)
        func travel(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            let bo = try await club.member("bo")
            let count = max(10, Settings.entries / 10)
            let century: Int64 = 4_102_444_800
            var generator = SeededGenerator(seed: Sample.seed("times"))
            for index in 0..<count {
                let path = ann.mirror + "/\(index % 7)/f\(index)"
                // One is too large for a batch.
                let length = index == 5 ? 3 << 20 : Int.random(in: 0..<2_000, using: &generator)
                try LocalFiles.write([UInt8](repeating: UInt8(index % 251), count: length), to: path)
                try Self.makeExecutable(path, index % 3 == 0)
                let seconds = century * Int64(index) / Int64(count - 1)
                let fraction = index % 4 == 0 ? 0 : Int64.random(in: 0..<1_000_000_000, using: &generator)
                try Self.touch(path, try #require(FileTime(seconds: seconds, nanoseconds: fraction)))
            }
            try await expectSynced(ann)
            try await expectSynced(bo)
            try await expectEqual([ann, bo], club)
            try Self.expectSame(ann, bo)

            // What replaces another content brings its own date, and a merge or a conflict copy keeps what it has.
            for index in 0..<10 {
                let path = bo.mirror + "/\(index % 7)/f\(index)"
                try LocalFiles.write("other \(index)\n", to: path)
                try Self.makeExecutable(path, index % 2 == 0)
                try Self.touch(path, FileTime(nanoseconds: 1_000_000_000_000_000_007 + Int64(index)))
            }
            try await expectSynced(bo)
            try await expectSynced(ann)
            try await expectEqual([ann, bo], club)
            try Self.expectSame(ann, bo)
            let server = try await club.api.fingerprint()
            for member in [ann, bo, ann] { try await expectSynced(member) }
            #expect(try await club.api.fingerprint() == server)
        }

        @Test("a touch of many files makes no version and sends nothing", arguments: Wire.tried)
        func touched(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            let bo = try await club.member("bo")
            let count = Settings.entries
            for index in 0..<count {
                try LocalFiles.write("note \(index)\n", to: ann.mirror + "/\(index % 50)/n\(index).md")
            }
            try await expectSynced(ann)
            try await expectSynced(bo)
            let server = try await club.api.fingerprint()
            let before = try FileTree(bo.mirror).files.sorted().map { try Traits(bo.mirror + "/" + $0) }
            for name in FileTree(ann.mirror).files {
                try Self.touch(ann.mirror + "/" + name, FileTime(nanoseconds: 1_234_567_890_123_456_789))
            }
            for _ in 0..<2 {
                let result = try await ann.sync("--json")
                #expect(result.status == 0, "\(result)")
                let events = try JSONValue.lines(result.output)
                #expect(events.count == 1 && events.last?["event"]?.text == "summary", "\(result)")
            }
            try await expectSynced(bo)
            #expect(try await club.api.fingerprint() == server)
            #expect(try FileTree(bo.mirror).files.sorted().map { try Traits(bo.mirror + "/" + $0) } == before)
            let time = try Traits(ann.mirror + "/0/n0.md").modified
            #expect(time == FileTime(nanoseconds: 1_234_567_890_123_456_789), "the sync leaves it as it is")
        }

        @Test("a file that becomes executable, or is no more, does so in the other mirror too", arguments: Wire.tried)
        func executable(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            let bo = try await club.member("bo")
            for name in ["run.sh", "plain.txt", "both.md"] {
                try LocalFiles.write("one\ntwo\nthree\nfour\nfive\n", to: ann.mirror + "/" + name)
            }
            try Self.makeExecutable(ann.mirror + "/run.sh", true)
            try await expectSynced(ann)
            try await expectSynced(bo)
            try Self.expectSame(ann, bo)
            #expect(try Traits(bo.mirror + "/run.sh").executable == 0o111)

            let date = try Traits(bo.mirror + "/plain.txt").modified
            try Self.makeExecutable(ann.mirror + "/plain.txt", true)
            try Self.makeExecutable(bo.mirror + "/run.sh", false)
            // One changes the text, the other who may execute it.
            try LocalFiles.write("ONE\ntwo\nthree\nfour\nfive\n", to: ann.mirror + "/both.md")
            try #require(unsafe chmod(bo.mirror + "/both.md", 0o750) == 0)
            for member in [ann, bo, ann, bo] { try await expectSynced(member) }
            try await expectEqual([ann, bo], club)
            #expect(try Traits(bo.mirror + "/plain.txt").executable == 0o111)
            #expect(try Traits(bo.mirror + "/plain.txt").modified == date)
            #expect(try Traits(ann.mirror + "/run.sh").executable == 0)
            #expect(try Traits(ann.mirror + "/both.md").executable == 0o111)
            #expect(try Traits(bo.mirror + "/both.md").executable == 0o110, "its other permissions stay")
            #expect(!FileTree(bo.mirror + "/.byteclub/trash").files.contains { $0.hasSuffix("plain.txt") })
            let server = try await club.api.fingerprint()
            for member in [ann, bo] { try await expectSynced(member) }
            #expect(try await club.api.fingerprint() == server)

            let running = try [ann, bo].map { try $0.start(["sync", $0.mirror], timeout: .seconds(120)) }
            try Self.makeExecutable(ann.mirror + "/run.sh", true)
            try await eventually("it arrives while both run") {
                (try? Traits(bo.mirror + "/run.sh").executable) == 0o111
            }
            for process in running {
                process.send(2)
                #expect(await process.result().status == 130)
            }
        }

        @Test("mirrors that have the same content at first leave their dates, and agree who may execute it")
        func joined() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            let bo = try await club.member("bo")
            for (member, year) in [(ann, Int64(10)), (bo, 20)] {
                try LocalFiles.write("same\n", to: member.mirror + "/a.sh")
                try Self.touch(member.mirror + "/a.sh", FileTime(nanoseconds: year * 31_557_600_000_000_000))
            }
            try Self.makeExecutable(ann.mirror + "/a.sh", true)
            try await expectSynced(ann)
            let server = try await club.api.fingerprint()
            try await expectSynced(bo)
            try await expectSynced(ann)
            #expect(try await club.api.fingerprint() == server)
            let (mine, theirs) = (try Traits(ann.mirror + "/a.sh"), try Traits(bo.mirror + "/a.sh"))
            #expect(mine.executable == 0o111 && theirs.executable == 0o111)
            #expect(mine.modified == FileTime(nanoseconds: 10 * 31_557_600_000_000_000))
            #expect(theirs.modified == FileTime(nanoseconds: 20 * 31_557_600_000_000_000))
        }
    }
}
