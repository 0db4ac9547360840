import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Nobody is there who could answer a question, and the server must not lose one file.
    @Suite("Disasters under a mirror") struct DisasterTests {
        @Test("an empty directory in the root's place, as an unmounted disk leaves it", arguments: Wire.tried)
        func unmounted(wire: Wire) async throws {
            let scene = try await Scene.start(wire)
            let away = scene.ann.home + "/away"
            unsafe rename(scene.ann.mirror, away)
            unsafe mkdir(scene.ann.mirror, 0o755)
            for _ in 0..<2 { expectRefusal(try await scene.ann.sync(), [66, 75]) }
            try await scene.expectNothingDeleted()
            TemporaryDirectory.remove(scene.ann.mirror)
            unsafe rename(away, scene.ann.mirror)
            try await expectSynced(scene.ann)
            try await scene.expectAsBefore()
        }

        @Test("a root that is unmounted under a sync that goes on", arguments: Wire.tried)
        func unmountedWhileSyncing(wire: Wire) async throws {
            let scene = try await Scene.start(wire)
            let process = try scene.ann.start(["sync", scene.ann.mirror])
            try LocalFiles.write("now\n", to: scene.ann.mirror + "/now.md")
            try await eventually("the sync runs") { try await scene.club.api.hashes()["/byteclub/now.md"] != nil }
            let away = scene.ann.home + "/away"
            unsafe rename(scene.ann.mirror, away)
            unsafe mkdir(scene.ann.mirror, 0o755)
            try LocalFiles.write("in the hole\n", to: scene.ann.mirror + "/hole.md")
            try await ContinuousClock().sleep(for: .seconds(3))
            process.send(SIGINT)
            let result = await process.result()
            #expect([66, 75, 130].contains(result.status), "\(result)")
            try await scene.expectNothingDeleted()
            TemporaryDirectory.remove(scene.ann.mirror)
            unsafe rename(away, scene.ann.mirror)
            TemporaryDirectory.remove(scene.ann.mirror + "/now.md")
            try await expectSynced(scene.ann)
            try await scene.expectAsBefore()
        }

        @Test("a mirror in which all files are gone", arguments: Wire.tried)
        func emptied(wire: Wire) async throws {
            let scene = try await Scene.start(wire)
            for name in FileTree.names(in: scene.ann.mirror) ?? [] where name != ".byteclub" {
                TemporaryDirectory.remove(scene.ann.mirror + "/" + name)
            }
            for _ in 0..<3 {
                let result = try await scene.ann.sync()
                #expect(result.status == 75 && result.errorText.contains("deletions"), "\(result)")
                try await scene.expectNothingDeleted()
            }
            let restored = try await scene.ann.byteclub("sync", "deletes", "restore", scene.ann.mirror)
            #expect(restored.status == 0, "\(restored)")
            try await expectSynced(scene.ann)
            try await scene.expectAsBefore()
        }

        @Test("a mirror that is gone with its marker", arguments: Wire.tried)
        func wiped(wire: Wire) async throws {
            let scene = try await Scene.start(wire)
            for name in FileTree.names(in: scene.ann.mirror) ?? [] {
                TemporaryDirectory.remove(scene.ann.mirror + "/" + name)
            }
            for _ in 0..<2 { expectRefusal(try await scene.ann.sync(), [66, 75]) }
            try await scene.expectNothingDeleted()
        }

        @Test("a database that is gone, in the middle of a person's work", arguments: Wire.tried)
        func lostDatabase(wire: Wire) async throws {
            let scene = try await Scene.start(wire)
            TemporaryDirectory.remove(scene.ann.home + "/state")
            TemporaryDirectory.remove(scene.ann.mirror + "/f0")
            TemporaryDirectory.remove(scene.ann.mirror + "/f1/1.md")
            try LocalFiles.write("new\n", to: scene.ann.mirror + "/new.md")
            try await expectSynced(scene.ann)
            try await scene.expectNothingDeleted()
            try await expectEqual([scene.ann], scene.club)
            #expect(FileTree(scene.ann.mirror).files == (scene.mirror.files + ["new.md"]).sorted())
        }

        @Test("a server that was restored from an old backup", arguments: Wire.tried)
        func restoredServer(wire: Wire) async throws {
            let scene = try await Scene.start(wire)
            let (club, ann) = (scene.club, scene.ann)
            let bo = try await club.member("bo")
            try await expectSynced(bo)
            let backup = club.folder.path + "/backup"
            let made = try await Program.run("byteclub-server", ["backup", "--data", club.server.data, backup])
            #expect(made.status == 0, "\(made)")
            try LocalFiles.write("edited\n", to: ann.mirror + "/f0/0.md")
            TemporaryDirectory.remove(ann.mirror + "/f1/1.md")
            unsafe rename(ann.mirror + "/f2/2.md", ann.mirror + "/f2/moved.md")
            try LocalFiles.write("new\n", to: ann.mirror + "/new/er.md")
            for member in [ann, bo] { try await expectSynced(member) }
            let later = [FileTree(ann.mirror), FileTree(bo.mirror)]

            await club.server.stop()
            unsafe rename(club.server.data, club.folder.path + "/lost")
            let restored = try await Program.run(
                "byteclub-server", ["restore", "--from", backup, "--data", club.server.data])
            #expect(restored.status == 0, "\(restored)")
            try await club.server.start()
            let api = try ClubAPI(server: club.server, token: club.api.token)
            for member in [ann, bo, ann, bo, ann] { try await expectSynced(member) }
            let after = try await api.hashes()
            for key in scene.server.keys { #expect(after[key] != nil, "\(key) was deleted on the server") }
            for (member, tree) in zip([ann, bo], later) {
                let now = FileTree(member.mirror)
                // A move may be undone, as the server's place counts.
                for path in tree.files where path != "f2/moved.md" {
                    #expect(now.entries[path] != nil, "\(path) was deleted in \(member.name)")
                }
                let contents = Set(now.entries.values)
                for (path, entry) in tree.entries { #expect(contents.contains(entry), "\(path)'s content is lost") }
            }
            let difference = FileTree(ann.mirror).difference(from: FileTree(bo.mirror))
            #expect(difference.isEmpty)
        }

        @Test("a state that is another machine's, or this one's of long ago", arguments: Wire.tried)
        func coldCache(wire: Wire) async throws {
            let scene = try await Scene.start(wire)
            let ann = scene.ann
            let own = try #require(Self.state(of: ann))
            try await Self.copy(own, to: ann.home + "/old")
            let bo = try await scene.club.member("bo")
            try await expectSynced(bo)
            TemporaryDirectory.remove(bo.mirror + "/f0/0.md")
            try LocalFiles.write("bo's\n", to: bo.mirror + "/f1/1.md")
            try LocalFiles.write("new\n", to: bo.mirror + "/new.md")
            for member in [bo, ann, bo] { try await expectSynced(member) }
            let server = try await scene.club.api.hashes()
            let mirror = FileTree(ann.mirror)

            try await Self.copy(ann.home + "/old", to: own)
            try await expectSynced(ann)
            #expect(try await scene.club.api.hashes() == server)
            #expect(FileTree(ann.mirror).difference(from: mirror).isEmpty)

            try await Self.copy(try #require(Self.state(of: bo)), to: own)
            _ = try await ann.sync()
            #expect(try await scene.club.api.hashes() == server)
            #expect(FileTree(ann.mirror).difference(from: mirror).isEmpty)

            // As in a build machine's cache: the state is there, and the mirror is fresh.
            for name in FileTree.names(in: ann.mirror) ?? [] { TemporaryDirectory.remove(ann.mirror + "/" + name) }
            try await Self.copy(ann.home + "/old", to: own)
            _ = try await ann.sync()
            #expect(try await scene.club.api.hashes() == server)
        }

        @Test("a clock that is set back by a year", arguments: Wire.tried)
        func clock(wire: Wire) async throws {
            let scene = try await Scene.start(wire)
            var ann = scene.ann
            guard let clock = try await Self.oldClock(in: scene.club.folder.path) else { return }
            ann.environment["LD_PRELOAD"] = clock
            let date = try await Program.run("/bin/date", ["+%Y"], environment: ["LD_PRELOAD": clock])
            let now = try await Program.run("/bin/date", ["+%Y"])
            try #require(Int(date.lines.first ?? "") == Int(now.lines.first ?? "").map { $0 - 1 }, "\(date)")
            try await expectSynced(ann)
            try await scene.expectAsBefore()
            // What is edited now gets old times, and one edit is as long as what it replaces.
            try LocalFiles.write("EDIT 0\n", to: ann.mirror + "/f0/0.md")
            try LocalFiles.write("a longer edit\n", to: ann.mirror + "/f1/1.md")
            try LocalFiles.write("new\n", to: ann.mirror + "/new.md")
            for path in ["f0/0.md", "f1/1.md", "new.md"] {
                let touched = try await Program.run("/usr/bin/touch", ["-d", "1 year ago", ann.mirror + "/" + path])
                #expect(touched.status == 0, "\(touched)")
            }
            #expect(try await scene.club.api.put(Array("theirs\n".utf8), "/byteclub/f2/2.md").status == 200)
            try await expectSynced(ann)
            try await scene.expectNothingDeleted()
            try await expectEqual([ann], scene.club)
            #expect(try await scene.club.api.get("/byteclub/f0/0.md").bytes == Array("EDIT 0\n".utf8))
            #expect(Fixture.bytes(at: ann.mirror + "/f2/2.md") == Array("theirs\n".utf8))
            #expect(FileTree(ann.mirror).files == (scene.mirror.files + ["new.md"]).sorted())
        }

        /// A library that tells programs that it is a year earlier; nil, with the reason printed, without a compiler.
        private static func oldClock(in folder: String) async throws -> String? {
            guard let compiler = Program.system("cc") else {
                print("skipped: no C compiler to make a clock that is a year behind")
                return nil
            }
            let source = """
                #include <sys/syscall.h>
                #include <sys/time.h>
                #include <time.h>
                #include <unistd.h>
                int clock_gettime(clockid_t clock, struct timespec *time) {
                    int result = syscall(SYS_clock_gettime, clock, time);
                    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec -= 365 * 86400;
                    return result;
                }
                int gettimeofday(struct timeval *time, void *zone) {
                    int result = syscall(SYS_gettimeofday, time, zone);
                    if (result == 0) time->tv_sec -= 365 * 86400;
                    return result;
                }
                time_t time(time_t *out) {
                    struct timespec now;
                    clock_gettime(CLOCK_REALTIME, &now);
                    if (out) *out = now.tv_sec;
                    return now.tv_sec;
                }
                """
            try LocalFiles.write(source, to: folder + "/clock.c")
            let library = folder + "/clock.so"
            let made = try await Program.run(
                compiler, ["-shared", "-fPIC", "-fno-builtin", "-o", library, folder + "/clock.c"])
            if made.status == 0 { return library }
            print("skipped: no clock that is a year behind can be made: \(made)")
            return nil
        }

        /// The directory of the state of a member's one mirror.
        private static func state(of member: MemberMachine) -> String? {
            var rest = [member.home + "/state"]
            while let folder = rest.popLast() {
                let names = FileTree.names(in: folder) ?? []
                if names.contains(where: { $0.hasSuffix(".sqlite") || $0.hasSuffix(".db") }) { return folder }
                rest += names.map { folder + "/" + $0 }
            }
            return nil
        }

        private static func copy(_ from: String, to target: String) async throws {
            TemporaryDirectory.remove(target)
            let copied = try await Program.run("/bin/cp", ["-a", from, target])
            try #require(copied.status == 0, "\(copied)")
        }
    }
}

/// A club with sixty notes and a mirror that agrees with it.
private struct Scene {
    let club: Club
    let ann: MemberMachine
    /// What the server has, by key.
    let server: [String: ContentHash?]
    /// What the mirror has.
    let mirror: FileTree

    static func start(_ wire: Wire) async throws -> Scene {
        let club = try await Club.start(wire)
        let ann = try await club.member("ann")
        for index in 0..<60 {
            try LocalFiles.write("note \(index)\n", to: ann.mirror + "/f\(index % 6)/\(index).md")
        }
        try await expectSynced(ann)
        return Scene(club: club, ann: ann, server: try await club.api.hashes(), mirror: FileTree(ann.mirror))
    }

    /// Expects the server to have all that it had.
    func expectNothingDeleted(location: SourceLocation = #_sourceLocation) async throws {
        let now = try await club.api.hashes()
        let gone = server.keys.filter { now[$0] == nil }.sorted()
        #expect(gone.isEmpty, "deleted on the server", sourceLocation: location)
    }

    /// Expects both sides to have what they had and nothing else.
    func expectAsBefore(location: SourceLocation = #_sourceLocation) async throws {
        let now = try await club.api.hashes()
        #expect(now == server, "the server changed", sourceLocation: location)
        #expect(FileTree(ann.mirror).difference(from: mirror).isEmpty, sourceLocation: location)
    }
}
