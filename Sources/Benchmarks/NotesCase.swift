import CLinux
import Glibc
import TestSupport

/// Many small notes: the first way up, the first way down, and a sync with nothing to do.
enum NotesCase {
    static func run(_ settings: Settings) async throws -> [Table] {
        var tables: [Table] = []
        // Removed after all measurements: for a while after many deletions, ext4 needs several times as long to find a
        // free inode.
        var folders: [String] = []
        defer { for folder in folders { settings.discard(folder) } }
        for (notes, rounds) in [(settings.notes, settings.rounds), (settings.many, 1)] {
            tables += try await run(notes, rounds, settings, &folders)
        }
        return tables
    }

    private static func run(
        _ notes: Int, _ rounds: Int, _ settings: Settings, _ folders: inout [String]
    ) async throws -> [Table] {
        var up: [String: [Measurement]] = [:]
        var down: [String: [Measurement]] = [:]
        var idle: [String: [Measurement]] = [:]
        var server = (up: [Double](), down: [Double]())
        let names = (0..<notes).map { "f\($0 / 100)/note-\($0).md" }
        for round in 0..<rounds {
            let folder = settings.folder("notes")
            folders.append(folder)
            let club = try await Club.open(["ann", "bo"], in: folder)
            let (ann, bo) = (club.members[0], club.members[1])
            try write(names, below: ann.mirror, round: round)
            let start = club.processorTime
            up["byteclub, durable", default: []].append(try await sync(ann, folder))
            let middle = club.processorTime
            down["byteclub, durable", default: []].append(try await sync(bo, folder))
            server.up.append(middle - start)
            server.down.append(club.processorTime - middle)
            guard FileTree(ann.mirror) == FileTree(bo.mirror) else {
                throw Stopwatch.Failure(description: "the mirrors differ")
            }
            // The second sync is measured, as for the others: the first one re-reads files written a moment ago.
            idle["byteclub sync --once, first", default: []].append(try await sync(bo, folder))
            idle["byteclub sync --once", default: []].append(try await sync(bo, folder))
            idle["byteclub --version", default: []].append(
                try await Stopwatch.run("byteclub", ["--version"], in: folder))
            idle["bare walk with stat", default: []].append(Stopwatch.time { _ = walk(bo.mirror) })
            idle["find -printf", default: []].append(
                try await Stopwatch.run("find", [bo.mirror, "-fprintf", "/dev/null", "%s %T@ %p\\n"], in: folder))
            await club.close()
            try await idlePeers(ann.mirror, bo.mirror, folder, &idle)
            if SyncthingPair.isInstalled {
                up["syncthing, both ends", default: []].append(try await syncthing(names, settings, round, &folders))
            }
            try await peers(names, ann.mirror, folder, &up, &down)
            let limit = try Stopwatch.time {
                try write(names, below: folder + "/limit", round: round)
                try syncFileSystem(folder)
            }
            up[Self.limit, default: []].append(limit)
            down[Self.limit, default: []].append(limit)
        }
        let rows = { (runs: [String: [Measurement]]) in runs.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
        let amount = Double(notes)
        let title = "\(notes) notes of 1.5 KiB, 100 to a folder"
        return [
            Table.race(title + ", first upload", unit: "files/s", amount: amount, reference: limit, rows(up)),
            Table.race(title + ", first download", unit: "files/s", amount: amount, reference: limit, rows(down)),
            Table.race(
                title + ", nothing to do", unit: "files/s", amount: amount, reference: "bare walk with stat",
                rows(idle)),
            processorTime(of: notes, [("up", up, server.up), ("down", down, server.down)]),
        ]
    }

    /// Processor time for a note at each end, which is independent of the disk.
    private static func processorTime(
        of notes: Int, _ ways: [(name: String, client: [String: [Measurement]], server: [Double])]
    ) -> Table {
        var table = Table(
            title: "Processor time of each of \(notes) notes", header: ["way", "client µs", "server µs"])
        for way in ways {
            let client = Measurement.median(way.client["byteclub, durable"] ?? []).processor
            table.rows.append(
                [way.name] + [client, Measurement.median(way.server)].map { Table.number($0 / Double(notes) * 1e6, 1) })
        }
        return table
    }

    private static let rclone = "rclone > nginx, no fsync"
    private static let limit = "limit: write all, one syncfs"

    /// Syncs once, with its lines about notes in a file, since the other contestants print none to a terminal.
    static func sync(_ member: MemberMachine, _ folder: String) async throws -> Measurement {
        try await Stopwatch.run(
            "/bin/sh",
            [
                "-c", "exec \"$@\" > '\(folder)/.told'", "sh", Program.path("byteclub"), "sync", member.mirror,
                "--once",
                "--json",
            ], environment: member.environment, in: folder)
    }

    /// From the start of two devices, one of which has the notes, until the other has them.
    private static func syncthing(
        _ names: [String], _ settings: Settings, _ round: Int, _ folders: inout [String]
    ) async throws -> Measurement {
        let folder = settings.folder("syncthing")
        folders.append(folder)
        let pair = try await SyncthingPair.start(in: folder) { try write(names, below: $0, round: round) }
        let seconds = try await pair.wait("the notes", pause: .milliseconds(50), limit: 900) {
            names.reversed().allSatisfy { LocalFiles.exists(pair.two + "/" + $0) }
        }
        await pair.end()
        return Measurement(seconds: seconds)
    }

    /// The time for other programs to find that two folders are equal.
    private static func idlePeers(
        _ one: String, _ two: String, _ folder: String, _ idle: inout [String: [Measurement]]
    ) async throws {
        let git = ["-C", two, "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        for step in [["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"], ["status", "--porcelain"]] {
            _ = try await Stopwatch.run("git", git + step, in: folder)
        }
        idle["git status", default: []].append(
            try await Stopwatch.run("git", git + ["status", "--porcelain"], in: folder))
        TemporaryDirectory.remove(two + "/.git")
        if Peer.rsync.isInstalled {
            idle["rsync -a, both sides", default: []].append(
                try await Stopwatch.run("rsync", ["-a", "--exclude", ".byteclub", one + "/", two], in: folder))
        }
        guard UnisonPair.isInstalled else { return }
        let unison = UnisonPair.arguments(one, two) + ["-ignore", "Name .byteclub"]
        for isMeasured in [false, true] {
            let run = try await Stopwatch.run(
                try UnisonPair.program, unison, environment: UnisonPair.environment(folder), in: folder)
            if isMeasured { idle["unison, both sides", default: []].append(run) }
        }
    }

    private static func peers(
        _ names: [String], _ source: String, _ folder: String, _ up: inout [String: [Measurement]],
        _ down: inout [String: [Measurement]]
    ) async throws {
        let nginx = try await Nginx.start(in: folder)
        defer { nginx.stop() }
        for number in 0...((names.count - 1) / 100) {
            LocalFiles.makeFolder("\(nginx.root)/curl/f\(number)")
        }
        let uploads = names.map { "upload-file = \"\(source)/\($0)\"\nurl = \"\(nginx.url)/curl/\($0)\"\n" }
        let downloads = names.map { "output = \"\(folder)/curl/\($0)\"\nurl = \"\(nginx.url)/curl/\($0)\"\n" }
        for (list, kind) in [(uploads, "up"), (downloads, "down")] {
            let config = "\(folder)/curl.\(kind)"
            try LocalFiles.write(list.joined(), to: config)
            let run = try await Stopwatch.run(
                "curl", ["-sS", "-Z", "--parallel-max", "32", "--create-dirs", "-K", config], in: folder)
            if kind == "up" {
                up["curl -Z > nginx, no fsync", default: []].append(run)
            } else {
                down["curl -Z < nginx, no fsync", default: []].append(run)
            }
        }
        guard Peer.rclone.isInstalled else { return }
        let remote = ":webdav,url='\(nginx.url)/rclone':"
        let flags = await Peer.rcloneFlags()
        let environment = ["HOME": folder, "XDG_CONFIG_HOME": folder + "/rclone-config"]
        // Debian's rclone waits 10 ms before each WebDAV call, so it gets a part of the notes, and as much more time.
        let isPaced = !flags.contains("0")
        let part = isPaced ? names.prefix(500) : names[...]
        try LocalFiles.write(part.joined(separator: "\n"), to: folder + "/rclone.list")
        LocalFiles.makeFolder(nginx.root + "/rclone")
        let scale = Double(names.count) / Double(part.count)
        for (from, to, isUp) in [(source, remote, true), (remote, folder + "/rclone-down", false)] {
            var run = try await Stopwatch.run(
                "rclone", ["copy", from, to, "--files-from", folder + "/rclone.list", "--no-traverse"] + flags,
                environment: environment, in: folder)
            run.seconds *= scale
            run.processor *= scale
            if isUp { up[rclone, default: []].append(run) } else { down[rclone, default: []].append(run) }
        }
    }

    private static func write(_ names: [String], below root: String, round: Int) throws {
        let filler = String(repeating: "The ridge was clear and the light was good. ", count: 34)
        for folder in Set(names.compactMap { $0.split(separator: "/").first }) {
            LocalFiles.makeFolder("\(root)/\(folder)")
        }
        for name in names {
            let path = root + "/" + name
            let descriptor = unsafe byteclub_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw Stopwatch.Failure(description: "cannot write \(path)") }
            let text = "# \(name), round \(round)\n\(filler)\n"
            _ = unsafe text.withCString { unsafe Glibc.write(descriptor, $0, text.utf8.count) }
            close(descriptor)
        }
    }

    static func syncFileSystem(_ folder: String) throws {
        let descriptor = unsafe byteclub_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        defer { close(descriptor) }
        guard descriptor >= 0, byteclub_syncfs(descriptor) == 0 else {
            throw Stopwatch.Failure(description: "cannot sync \(folder)")
        }
    }

    private static func walk(_ folder: String) -> Int {
        guard let directory = unsafe opendir(folder) else { return 0 }
        defer { unsafe closedir(directory) }
        let base = unsafe dirfd(directory)
        var count = 0
        while let entry = unsafe readdir(directory) {
            let isDirectory = unsafe entry.pointee.d_type == UInt8(DT_DIR)
            unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    if unsafe name[0] == 46, unsafe (name[1] == 0 || (name[1] == 46 && name[2] == 0)) { return }
                    var status = stat()
                    guard unsafe fstatat(base, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
                    count += 1
                    if isDirectory { count += unsafe walk(folder + "/" + String(cString: name)) }
                }
            }
        }
        return count
    }
}
