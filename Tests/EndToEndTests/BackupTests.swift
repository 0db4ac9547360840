import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Backup, restore and verify") struct BackupTests {
        @Test("a backup made while writers write restores to a club that has all that was acknowledged before it began")
        func whileWriting() async throws {
            let club = try await Club.start()
            let backup = club.folder.path + "/backup"
            let storm = WriteStorm(port: club.server.port, token: club.api.token, next: Array(repeating: 0, count: 16))
            var backups: [(path: String, before: Int)] = []
            for number in 0..<3 {
                try await eventually("more writes") { storm.acknowledgedCount >= (number + 1) * 300 }
                let before = storm.acknowledgedCount
                let result = try await Program.run(
                    "byteclub-server", ["backup", "--data", club.server.data, backup + "\(number)"])
                #expect(result.status == 0, "\(result)")
                backups.append((backup + "\(number)", before))
                let verified = try await Program.run("byteclub-server", ["verify", "--data", club.server.data])
                #expect(verified.status == 0, "while serving: \(verified)")
            }
            storm.finish()
            let written = await storm.result()
            #expect(storm.refusals.isEmpty)
            await club.server.stop()

            for (number, backup) in backups.enumerated() {
                let data = club.folder.path + "/restored\(number)"
                let restored = try await Program.run(
                    "byteclub-server", ["restore", "--from", backup.path, "--data", data])
                #expect(restored.status == 0, "\(restored)")
                let verified = try await Program.run("byteclub-server", ["verify", "--data", data, "--json"])
                #expect(verified.status == 0 && verified.text.contains("\"clean\":true"), "\(verified)")
                let server = try await ServerProcess(data: data)
                let missing = await written.missingFromHistory(port: server.port, token: club.api.token)
                // The writers' counts come a moment after the server's answers: what is there is at least what was
                // counted.
                #expect(written.count - missing.count >= backup.before, "\(missing.count) of \(written.count) missing")
                let lost = Set(missing)
                for (writer, writes) in Dictionary(grouping: written, by: \.writer) {
                    let first = writes.filter { lost.contains($0) }.map(\.number).min() ?? .max
                    let hasHole = writes.contains { $0.number > first && !lost.contains($0) }
                    #expect(!hasHole, "the backup is of no one moment for writer \(writer)")
                }
                await server.stop()
            }
        }

        @Test("a backup killed at any moment leaves nothing that looks like one, and the next one succeeds")
        func killed() async throws {
            let club = try await Club.start()
            var generator = SeededGenerator(seed: Sample.seed("killed backups"))
            for index in 0..<40 {
                let note = Sample.note("n\(index)", length: 70_000, using: &generator)
                #expect(try await club.api.put(note, "/byteclub/n\(index).md").status == 200)
            }
            let target = club.folder.path + "/backup"
            for _ in 0..<10 {
                let process = try Program.start("byteclub-server", ["backup", "--data", club.server.data, target])
                try await ContinuousClock().sleep(for: .microseconds(Int.random(in: 0..<30_000, using: &generator)))
                process.kill9()
                let result = await process.result()
                guard LocalFiles.exists(target) else { continue }
                let verified = try await Program.run("byteclub-server", ["verify", "--data", target])
                #expect(verified.status == 0, "\(result) left \(verified)")
                TemporaryDirectory.remove(target)
            }
            let result = try await Program.run("byteclub-server", ["backup", "--data", club.server.data, target])
            #expect(result.status == 0, "\(result)")
            await club.server.stop()
        }

        @Test("dated backups, some of them killed, go on beside writers; the newest stay, and each of them restores")
        func dated() async throws {
            let club = try await Club.start()
            let folder = club.folder.path + "/backups"
            let storm = WriteStorm(port: club.server.port, token: club.api.token, next: Array(repeating: 0, count: 8))
            let photo = Fixture.bytes("panoramas/forest.jpg")
            #expect(try await club.api.put(photo, "/byteclub/photos/forest.jpg").status == 200)
            var generator = SeededGenerator(seed: Sample.seed("dated backups"))
            func start() throws -> SpawnedProcess {
                try Program.start(
                    "byteclub", ["backup", "--data", club.server.data, "--keep", "2", folder, "--json"])
            }
            var paths: [String] = []
            var before = 0
            for number in 0..<4 {
                try await eventually("more writes") { storm.acknowledgedCount >= (number + 1) * 100 }
                let killed = try start()
                try await ContinuousClock().sleep(for: .microseconds(Int.random(in: 0..<60_000, using: &generator)))
                killed.kill9()
                _ = await killed.result()
                before = storm.acknowledgedCount
                let made = await (try start()).result()
                #expect(made.status == 0, "\(made)")
                let summary = try JSONValue.parse(made.output)
                let path = try #require(summary["path"]?.text)
                #expect(path.hasPrefix(folder + "/20") && path.hasSuffix("Z"))
                paths.append(path)
                #expect(summary["shared"]?.number ?? 0 >= Double(photo.count), "\(made)")
            }
            storm.finish()
            let written = await storm.result()
            await club.server.stop()
            let names = try #require(FileTree.names(in: folder)).filter { $0 != "backup.lock" }.sorted()
            #expect(names.count == 2 && names.last.map { folder + "/" + $0 } == paths.last, "\(names)")
            for name in names {
                let data = club.folder.path + "/restored-" + name
                let restored = try await Program.run(
                    "byteclub-server", ["restore", "--from", folder + "/" + name, "--data", data])
                #expect(restored.status == 0, "\(restored)")
                for directory in [data, folder + "/" + name] {
                    let verified = try await Program.run("byteclub", ["verify", "--data", directory])
                    #expect(verified.status == 0 && verified.text.hasPrefix("clean"), "\(verified)")
                }
            }
            let server = try await ServerProcess(data: club.folder.path + "/restored-" + (names.last ?? ""))
            let missing = await written.missingFromHistory(port: server.port, token: club.api.token)
            #expect(written.count - missing.count >= before, "\(missing.count) of \(written.count) missing")
            await server.stop()
        }

        @Test("what cannot be done is one line and its exit code, and changes nothing")
        func refusals() async throws {
            let club = try await Club.start()
            #expect(try await club.api.put(Array("text".utf8), "/byteclub/a.md").status == 200)
            let data = club.server.data
            let empty = club.folder.path + "/none"
            func run(_ arguments: String...) async throws -> ProgramResult {
                try await Program.run("byteclub-server", arguments)
            }
            expectRefusal(try await run("verify", "--data", empty), [66], mentioning: "no club in")
            expectRefusal(try await run("backup", "--data", empty, empty + "2"), [66], mentioning: "no club in")
            expectRefusal(try await run("backup", "--data", data, data), [73], mentioning: "not empty")
            expectRefusal(try await run("backup", "--data", data, "--keep", "2", data), [73], mentioning: "dated")
            for count in ["0", "-1", "two"] {
                expectRefusal(try await run("backup", "--data", data, "--keep=\(count)", empty), [64])
            }
            expectRefusal(try await run("restore", "--from", data, "--data", data), [73], mentioning: "not empty")
            expectRefusal(try await run("restore", "--from", empty, "--data", empty + "2"), [66])
            expectRefusal(try await run("backup", "--data", data, "/proc/none/backup"), [73, 74])
            #expect(!LocalFiles.exists(empty) && !LocalFiles.exists(empty + "2"))
            await club.server.stop()
            let blob = Array("text".utf8)
            let hash = ContentHasher.hash(blob)
            let damage = try await Program.run(
                "/usr/bin/python3",
                [
                    "-c",
                    "import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); "
                        + "d.execute(\"update content set bytes=x'00'\"); d.commit()", data + "/byteclub.sqlite",
                ])
            #expect(damage.status == 0, "\(damage)")
            let verified = try await run("verify", "--data", data)
            #expect(verified.status == 65)
            #expect(verified.text.contains("content\t\(hash)\tthe 1 bytes in the database have the hash"))
            #expect(verified.text.contains("its content \(hash) has 1 bytes and should have 4"))
            #expect(verified.errorLines.count == 1)
        }
    }
}
