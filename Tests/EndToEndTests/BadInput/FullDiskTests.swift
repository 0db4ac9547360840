import ByteClubCore
import Glibc
import HTTPTypes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Full disks") struct FullDiskTests {
        @Test("a full disk under the mirror leaves no torn file, and the sync goes on when there is room")
        func fullMirror() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            var generator = SeededGenerator(seed: 11)
            var hashes: [String: ContentHash] = [:]
            for index in 0..<30 {
                let note = Sample.note("n\(index)", length: 100_000, using: &generator)
                hashes["n\(index).md"] = ContentHasher.hash(note)
                #expect(try await club.api.put(note, "/byteclub/n\(index).md").status == 200)
            }
            let theirs = hashes
            try await SmallDisk.with(at: ann.mirror, kibibytes: 1024) { disk in
                try await Self.fill(ann, theirs, club, disk)
            }
        }

        private static func fill(
            _ ann: MemberMachine, _ hashes: [String: ContentHash], _ club: Club, _ disk: SmallDisk
        ) async throws {
            for _ in 0..<2 {
                let result = try await ann.sync()
                #expect([74, 75].contains(result.status), "\(result)")
                #expect(!result.errorText.isEmpty, "\(result)")
                for (path, entry) in FileTree(ann.mirror).entries {
                    guard case .file(_, let hash) = entry else { continue }
                    #expect(hashes[path] == hash, "\(path) is torn")
                }
            }
            try await disk.resize(kibibytes: 16 << 10)
            try await expectSynced(ann)
            #expect(FileTree(ann.mirror).files.count == 30)
            try await expectEqual([ann], club)
        }

        @Test("a full disk under the server is 507 for the writer, loses nothing, and is over when there is room")
        func fullServer() async throws {
            let folder = try TemporaryDirectory()
            let data = folder.path + "/data"
            unsafe mkdir(data, 0o700)
            try await SmallDisk.with(at: data, kibibytes: 4096) { try await Self.fill(data, $0) }
        }

        /// Reading, deleting, restoring, moving and listing go on while the disk is full.
        private static func expectAllButNewContent(_ club: Club, _ paths: [String]) async throws {
            for path in paths {
                let metadata = try #require(try await club.api.revisions(path).first)
                let form = "root=dropbox&path=\(path)"
                #expect(try await club.api.send(.post, "/1/fileops/delete?\(form)").status == 200)
                let rev = try #require(metadata.rev)
                #expect(try await club.api.send(.post, "/1/restore/dropbox\(path)?rev=\(rev)").status == 200)
                let move = "root=dropbox&from_path=\(path)&to_path=\(path).moved"
                #expect(try await club.api.send(.post, "/1/fileops/move?\(move)").status == 200)
                let back = "root=dropbox&from_path=\(path).moved&to_path=\(path)"
                #expect(try await club.api.send(.post, "/1/fileops/move?\(back)").status == 200)
            }
            #expect(try await club.api.tree("/byteclub").count > paths.count)
        }

        private static func fill(_ data: String, _ disk: SmallDisk) async throws {
            let club = try await Club.start(data: data)
            let ann = try await club.member("ann")
            var generator = SeededGenerator(seed: 12)
            var stored: [String: ContentHash] = [:]
            var refused = 0
            for index in 0..<120 where refused < 5 {
                let length = index.isMultiple(of: 2) ? 200_000 : 20_000
                let note = Sample.note("n\(index)", length: length, using: &generator)
                let answer = try await club.api.put(note, "/byteclub/n\(index).md")
                switch answer.status {
                case 200: stored["/byteclub/n\(index).md"] = ContentHasher.hash(note)
                case 507: refused += 1
                default: Issue.record("a full disk was answered with \(answer)")
                }
            }
            #expect(refused == 5 && !stored.isEmpty)
            try await Self.expectAllButNewContent(club, Array(stored.keys.sorted().prefix(4)))
            let big = Sample.note("big", length: 400_000, using: &generator)
            expectRefusal(try await ann.byteclub("notes", "add", "big.md", input: big), [75])
            for (path, hash) in stored {
                #expect(ContentHasher.hash(try await club.api.get(path).bytes) == hash, "\(path) is lost")
            }
            try await disk.resize(kibibytes: 32 << 10)
            let added = try await ann.byteclub("notes", "add", "big.md", input: big)
            #expect(added.status == 0, "\(added)")
            await club.server.kill9()
            try await club.server.start()
            let api = try ClubAPI(server: club.server, token: club.api.token)
            for (path, hash) in stored {
                #expect(ContentHasher.hash(try await api.get(path).bytes) == hash, "\(path) is lost")
            }
            #expect(try await api.get("/byteclub/big.md").bytes == big)
            await club.server.stop()
            let verified = try await Program.run("byteclub-server", ["verify", "--data", data])
            #expect(verified.status == 0, "\(verified)")
        }
    }
}

/// A file system of little room, in memory.
struct SmallDisk: Sendable {
    let path: String

    /// Mounts it for the time of some work; where that is not allowed, the reason is printed and nothing is done.
    static func with(at path: String, kibibytes: Int, _ work: (SmallDisk) async throws -> Void) async throws {
        guard let mount = Program.system("mount"), let umount = Program.system("umount") else {
            print("skipped: no mount program for a small disk")
            return
        }
        let result = try await Program.run(mount, ["-t", "tmpfs", "-o", "size=\(kibibytes)k", "byteclub", path])
        guard result.status == 0 else {
            print("skipped: a small disk cannot be mounted: \(result.errorText)")
            return
        }
        do { try await work(SmallDisk(path: path)) } catch { Issue.record(error) }
        let end = try await Program.run(umount, ["-l", path])
        #expect(end.status == 0, "\(end)")
    }

    func resize(kibibytes: Int) async throws {
        let mount = try #require(Program.system("mount"))
        let result = try await Program.run(mount, ["-o", "remount,size=\(kibibytes)k", path])
        try #require(result.status == 0, "\(result)")
    }
}
