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
        var ways = UpAndDown(
            ours: "byteclub, durable", limit: "limit: write all, one syncfs",
            rcloneDown: "rclone > nginx, no fsync")
        var idle = Runs()
        let names = (0..<notes).map { "f\($0 / 100)/note-\($0).md" }
        for round in 0..<rounds {
            let folder = settings.folder("notes")
            folders.append(folder)
            let club = try await Club.open(["ann", "bo"], in: folder)
            let (ann, bo) = (club.members[0], club.members[1])
            try write(names, below: ann.mirror, round: round)
            try await ways.sync(club)
            // The second sync is measured, as for the others: the first one re-reads files written a moment ago.
            idle.add("byteclub sync --once, first", try await bo.timedSync(in: folder))
            idle.add("byteclub sync --once", try await bo.timedSync(in: folder))
            idle.add("byteclub --version", try await Stopwatch.run("byteclub", ["--version"], in: folder))
            idle.add("bare walk with stat", Stopwatch.time { _ = walk(bo.mirror) })
            idle.add(
                "find -printf",
                try await Stopwatch.run("find", [bo.mirror, "-fprintf", "/dev/null", "%s %T@ %p\\n"], in: folder))
            await club.close()
            try await idlePeers(ann.mirror, bo.mirror, folder, &idle)
            if SyncthingPair.isInstalled {
                ways.up.add("syncthing, both ends", try await syncthing(names, settings, round, &folders))
            }
            try await ways.addPeers(names, from: ann.mirror, in: folder, parallel: 32) { isPaced in
                // Debian's rclone waits 10 ms before each WebDAV call, so it gets a part of the notes, and as much more
                // time.
                let part = isPaced ? names.prefix(500) : names[...]
                try LocalFiles.write(part.joined(separator: "\n"), to: folder + "/rclone.list")
                return (
                    ["--files-from", folder + "/rclone.list", "--no-traverse"],
                    Double(names.count) / Double(part.count)
                )
            }
            let start = ContinuousClock.now
            try write(names, below: folder + "/limit", round: round)
            try ways.addLimit(since: start, in: folder)
        }
        let amount = Double(notes)
        let title = "\(notes) notes of 1.5 KiB, 100 to a folder"
        return [
            ways.up.table(title + ", first upload", unit: "files/s", amount: amount, reference: ways.limit),
            ways.down.table(title + ", first download", unit: "files/s", amount: amount, reference: ways.limit),
            idle.table(title + ", nothing to do", unit: "files/s", amount: amount, reference: "bare walk with stat"),
            ways.processorTime(
                "Processor time of each of \(notes) notes", files: notes, unit: "µs", perSecond: 1e6, digits: 1),
        ]
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
        _ one: String, _ two: String, _ folder: String, _ idle: inout Runs
    ) async throws {
        let git = ["-C", two, "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        for step in [["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"], ["status", "--porcelain"]] {
            _ = try await Stopwatch.run("git", git + step, in: folder)
        }
        idle.add("git status", try await Stopwatch.run("git", git + ["status", "--porcelain"], in: folder))
        TemporaryDirectory.remove(two + "/.git")
        if Peer.rsync.isInstalled {
            idle.add(
                "rsync -a, both sides",
                try await Stopwatch.run("rsync", ["-a", "--exclude", ".byteclub", one + "/", two], in: folder))
        }
        guard UnisonPair.isInstalled else { return }
        let unison = UnisonPair.arguments(one, two) + ["-ignore", "Name .byteclub"]
        for isMeasured in [false, true] {
            let run = try await Stopwatch.run(
                try UnisonPair.program, unison, environment: UnisonPair.environment(folder), in: folder)
            if isMeasured { idle.add("unison, both sides", run) }
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
