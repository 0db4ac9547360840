import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Mirrors in a bad state") struct BadMirrorTests {
        @Test("a link out of the mirror is never followed, from either side", arguments: Wire.tried)
        func linkOut(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            let outside = club.folder.path + "/outside"
            try LocalFiles.write("private\n", to: outside + "/private.md")
            try LocalFiles.write("public\n", to: ann.mirror + "/public.md")
            unsafe symlink(outside + "/private.md", ann.mirror + "/link.md")
            unsafe symlink(outside, ann.mirror + "/way out")
            unsafe symlink("/nowhere/at/all", ann.mirror + "/dangling.md")
            unsafe symlink("..", ann.mirror + "/loop")
            let target = FileTree(outside)
            for content in ["first", "second"] {
                let result = try await ann.sync()
                #expect([0, 75].contains(result.status) && !result.isTimedOut, "\(result)")
                let paths = try await club.api.tree("/byteclub").values.map(\.path.string)
                #expect(paths.contains("/byteclub/public.md"))
                let links = ["link.md", "way out", "dangling.md", "loop"].map { "/byteclub/" + $0 }
                #expect(
                    !paths.contains { path in links.contains { path == $0 || path.hasPrefix($0 + "/") } }, "\(paths)")
                #expect(FileTree(outside) == target)
                #expect(try await club.api.put(Array(content.utf8), "/byteclub/deep/\(content).md").status == 200)
            }
            // Others use the same names; what they write must not come out at the link's other end.
            for path in ["/byteclub/way out/evil.md", "/byteclub/link.md", "/byteclub/dangling.md"] {
                #expect(try await club.api.put(Array("evil".utf8), path).status == 200)
            }
            let result = try await ann.sync()
            #expect(result.signal == nil && !result.isTimedOut, "\(result)")
            #expect(FileTree(outside) == target)
            #expect(!LocalFiles.exists("/nowhere/at/all"))
            #expect(Fixture.bytes(at: ann.mirror + "/public.md") == Array("public\n".utf8))
            for name in ["way out/evil.md", "link.md"] {
                let stored = try await club.api.get("/byteclub/" + name)
                #expect(stored.bytes == Array("evil".utf8), "a link here deleted \(name) there")
            }
        }

        @Test("a file that cannot be read is told, and all others are synced", arguments: Wire.tried)
        func unreadable(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            try LocalFiles.write("mine\n", to: ann.mirror + "/closed.md")
            try LocalFiles.write("open\n", to: ann.mirror + "/open.md")
            try LocalFiles.write("inside\n", to: ann.mirror + "/locked/inside.md")
            try await expectSynced(ann)
            guard let nobody = try await Unprivileged.user(for: ann, in: club) else { return }
            try LocalFiles.write("changed\n", to: ann.mirror + "/closed.md")
            try LocalFiles.write("changed\n", to: ann.mirror + "/open.md")
            unsafe chmod(ann.mirror + "/closed.md", 0)
            unsafe chmod(ann.mirror + "/locked", 0)
            defer { unsafe chmod(ann.mirror + "/locked", 0o755) }
            let result = try await nobody.run(["sync", ann.mirror, "--once"])
            #expect([74, 75].contains(result.status), "\(result)")
            #expect(result.errorText.contains("closed.md") && result.errorText.contains("locked"), "\(result)")
            #expect(try await club.api.get("/byteclub/open.md").bytes == Array("changed\n".utf8))
            #expect(try await club.api.get("/byteclub/closed.md").bytes == Array("mine\n".utf8))
            #expect(try await club.api.get("/byteclub/locked/inside.md").bytes == Array("inside\n".utf8))
            let added = try await nobody.run(["notes", "add", "x.md", ann.mirror + "/closed.md"])
            expectRefusal(added, [66, 74], mentioning: "closed.md")
            unsafe chmod(ann.mirror + "/closed.md", 0o644)
            unsafe chmod(ann.mirror + "/locked", 0o755)
            let healed = try await nobody.run(["sync", ann.mirror, "--once"])
            #expect(healed.status == 0, "\(healed)")
            try await expectEqual([ann], club)
        }

        @Test("a mirror directory that is gone is 66 and deletes nothing on the server", arguments: Wire.tried)
        func goneMirror(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            for index in 0..<5 { try LocalFiles.write("note \(index)\n", to: ann.mirror + "/\(index).md") }
            try await expectSynced(ann)
            let before = try await club.api.fingerprint()
            TemporaryDirectory.remove(ann.mirror)
            expectRefusal(try await ann.sync(), [66])
            #expect(try await club.api.fingerprint() == before)
            #expect(!LocalFiles.exists(ann.mirror))
            // An empty directory, as an unmounted disk leaves it, is not a mirror whose files were all deleted.
            unsafe mkdir(ann.mirror, 0o755)
            let empty = try await ann.sync()
            #expect(empty.signal == nil && !empty.isTimedOut, "\(empty)")
            #expect(try await club.api.fingerprint() == before, "\(empty)")
        }

        @Test(
            "a mirror whose files are nearly all gone holds the deletions until they are confirmed",
            arguments: Wire.tried)
        func massDelete(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            for index in 0..<60 { try LocalFiles.write("note \(index)\n", to: ann.mirror + "/\(index).md") }
            try await expectSynced(ann)
            for index in 0..<55 { TemporaryDirectory.remove(ann.mirror + "/\(index).md") }
            let before = try await club.api.fingerprint()
            let held = try await ann.sync()
            #expect(held.status == 75 && held.errorText.contains("deletions"), "\(held)")
            #expect(try await club.api.fingerprint() == before)
            let forced = try await ann.sync("--force-deletes")
            #expect(forced.status == 0, "\(forced)")
            #expect(try await club.api.tree("/byteclub").values.filter { !$0.isFolder }.count == 5)
        }

        @Test("lost state is found out again: nothing is deleted and nothing is doubled", arguments: Wire.tried)
        func lostState(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            for index in 0..<20 { try LocalFiles.write("note \(index)\n", to: ann.mirror + "/\(index).md") }
            try await expectSynced(ann)
            let before = try await club.api.fingerprint()
            TemporaryDirectory.remove(ann.home + "/state")
            TemporaryDirectory.remove(ann.mirror + "/3.md")
            try await expectSynced(ann)
            #expect(try await club.api.fingerprint() == before)
            #expect(FileTree(ann.mirror).files.count == 20)
        }

        @Test("what is no file, and names that the server refuses, stay here and stop nobody", arguments: Wire.tried)
        func oddEntries(wire: Wire) async throws {
            let club = try await Club.start(wire)
            let ann = try await club.member("ann")
            unsafe mkfifo(ann.mirror + "/pipe.md", 0o644)
            try LocalFiles.write("x", to: ann.mirror + "/back\\slash.md")
            try LocalFiles.write("x", to: ann.mirror + "/desktop.ini")
            try LocalFiles.write("x", to: ann.mirror + "/trailing ")
            try LocalFiles.write("good\n", to: ann.mirror + "/good.md")
            let result = try await ann.sync()
            #expect([0, 75].contains(result.status) && !result.isTimedOut, "\(result)")
            let files = try await club.api.tree("/byteclub").values.filter { !$0.isFolder }
            #expect(files.map(\.path.string) == ["/byteclub/good.md"])
            #expect(FileTree(ann.mirror).entries.count == 5)
        }
    }
}

/// Runs a member's commands as a user whom file modes bind, when the tests themselves run as root.
struct Unprivileged: Sendable {
    private let member: MemberMachine
    private let prefix: [String]

    /// Gives the member's files to an unprivileged user; nil, with the reason printed, when there is none.
    static func user(for member: MemberMachine, in club: Club) async throws -> Unprivileged? {
        guard geteuid() == 0 else { return Unprivileged(member: member, prefix: []) }
        guard let setpriv = Program.system("setpriv"), let chown = Program.system("chown") else {
            print("skipped: root reads every file, and setpriv is not installed")
            return nil
        }
        let prefix = [setpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        unsafe chmod(club.folder.path, 0o755)
        let given = try await Program.run(chown, ["-R", "65534:65534", member.home])
        #expect(given.status == 0, "\(given)")
        let probe = try await Program.run(setpriv, Array(prefix.dropFirst()) + [Program.path("byteclub"), "--version"])
        guard probe.status == 0 else {
            print("skipped: an unprivileged user cannot run the programs: \(probe)")
            return nil
        }
        return Unprivileged(member: member, prefix: prefix)
    }

    func run(_ arguments: [String]) async throws -> ProgramResult {
        let command = prefix + [Program.path("byteclub")] + arguments
        return try await Program.run(
            command[0], Array(command.dropFirst()), environment: member.environment, directory: member.home)
    }
}
