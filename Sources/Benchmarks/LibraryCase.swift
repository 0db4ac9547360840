import CLinux
import Glibc
import TestSupport

/// Libraries of photos and a real tree: up and down by a sync and by `photos upload` and `download`, and from mirror to
/// mirror.
enum LibraryCase {
    /// Photos of one length.
    private struct Library {
        let count: Int
        let bytes: Int
        let title: String

        static let all = [
            Library(count: 1_000, bytes: 200_000, title: "1000 photos of 200 KB"),
            Library(count: 300, bytes: 4_000_000, title: "300 photos of 4 MB"),
            Library(count: 40, bytes: 40_000_000, title: "40 photos of 40 MB"),
        ]

        var names: [String] { (0..<count).map { "album-\($0 / 100)/photo-\($0).jpg" } }

        /// Writes the photos: a real one's head, so that a server reads it as it reads any, and noise.
        ///
        /// No two have one length, as in the libraries of cameras.
        func write(below folder: String, round: Int) throws {
            let head = Fixture.bytes("panoramas/dated.jpg")
            for number in 0...((count - 1) / 100) { LocalFiles.makeFolder("\(folder)/album-\(number)") }
            for (number, name) in names.enumerated() {
                try LocalFiles.writeLarge(
                    head: head, length: bytes + number, seed: UInt64(round * 1_000_000 + number),
                    to: folder + "/" + name)
            }
        }
    }

    /// Debian's documentation: about a thousand folders of small files.
    private static let tree = "/usr/share/doc"
    private static let limit = "limit: cp -r, one syncfs"

    static func run(_ settings: Settings) async throws -> [Table] {
        var tables: [Table] = []
        var folders: [String] = []
        defer { for folder in folders { settings.discard(folder) } }
        for library in Library.all {
            tables += try await race(
                library.title, files: library.count, mebibytes: Double(library.count * library.bytes) / 1_048_576,
                names: library.names, settings, &folders
            ) { try library.write(below: $0, round: $1) }
        }
        let files = FileTree(tree).files.count
        if files > 0 {
            tables += try await race(
                "\(tree), \(files) files", files: files, mebibytes: nil, names: nil, settings, &folders
            ) { folder, _ in try await copy(tree, to: folder) }
        }
        return tables
    }

    /// Races one library; speeds are in MiB a second, or in files where the length is not known.
    private static func race(
        _ title: String, files: Int, mebibytes: Double?, names: [String]?, _ settings: Settings,
        _ folders: inout [String], write: (_ folder: String, _ round: Int) async throws -> Void
    ) async throws -> [Table] {
        var up: [String: [Measurement]] = [:]
        var down: [String: [Measurement]] = [:]
        var across: [String: [Measurement]] = [:]
        var server = (up: [Double](), down: [Double]())
        for round in 0..<settings.rounds {
            let folder = settings.folder("library")
            folders.append(folder)
            let club = try await Club.open(["ann", "bo", "cy"], in: folder)
            let (ann, bo, cy) = (club.members[0], club.members[1], club.members[2])
            try await write(ann.mirror, round)
            let before = club.processorTime
            up["byteclub sync, durable", default: []].append(try await NotesCase.sync(ann, folder))
            let middle = club.processorTime
            down["byteclub sync, durable", default: []].append(try await NotesCase.sync(bo, folder))
            server.up.append(middle - before)
            server.down.append(club.processorTime - middle)
            guard FileTree(ann.mirror) == FileTree(bo.mirror) else {
                throw Stopwatch.Failure(description: "the mirrors differ")
            }
            if names != nil {
                let albums = (0...((files - 1) / 100)).map { ann.mirror + "/album-\($0)" }
                up["byteclub photos upload, durable", default: []].append(
                    try await photos(["upload"] + albums, as: cy, folder))
                let target = folder + "/downloads"
                LocalFiles.makeFolder(target)
                down["byteclub photos download, durable", default: []].append(
                    try await photos(["download", "*.jpg", "-o", target], as: cy, folder))
                guard FileTree(target).files.count == files else {
                    throw Stopwatch.Failure(description: "photos are missing in '\(target)'")
                }
            }
            await club.close()
            if let names { try await peers(names, ann.mirror, folder, &up, &down) }
            let start = ContinuousClock.now
            try await copy(ann.mirror, to: folder + "/limit")
            try NotesCase.syncFileSystem(folder)
            up[limit, default: []].append(Measurement(seconds: Stopwatch.seconds(since: start)))
            down[limit, default: []] = up[limit, default: []]
            across["byteclub, mirror to mirror", default: []].append(
                try await pair(ByteClubPair.self, from: ann.mirror, settings, &folders))
            if SyncthingPair.isInstalled {
                across["syncthing, mirror to mirror", default: []].append(
                    try await pair(SyncthingPair.self, from: ann.mirror, settings, &folders))
            }
        }
        let rows = { (runs: [String: [Measurement]]) in runs.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
        let (unit, amount) = mebibytes.map { ("MiB/s", $0) } ?? ("files/s", Double(files))
        var processor = Table(title: title + ", processor time of each", header: ["way", "client ms", "server ms"])
        for (way, client, server) in [("up", up, server.up), ("down", down, server.down)] {
            let client = Measurement.median(client["byteclub sync, durable"] ?? []).processor
            processor.rows.append(
                [way] + [client, Measurement.median(server)].map { Table.number($0 / Double(files) * 1e3, 2) })
        }
        return [
            Table.race(title + ", up", unit: unit, amount: amount, reference: limit, rows(up)),
            Table.race(title + ", down", unit: unit, amount: amount, reference: limit, rows(down)),
            Table.race(
                title + ", both running", unit: unit, amount: amount, reference: "syncthing, mirror to mirror",
                rows(across)),
            processor,
        ]
    }

    /// Runs `byteclub photos` with its output in a file.
    private static func photos(
        _ arguments: [String], as member: MemberMachine, _ folder: String
    ) async throws -> Measurement {
        try await Stopwatch.run(
            "/bin/sh",
            ["-c", "exec \"$@\" > '\(folder)/.told'", "sh", Program.path("byteclub"), "photos"] + arguments,
            environment: member.environment, in: folder)
    }

    /// From the moment in which files are copied into one of two running mirrors until all of them are in the other.
    private static func pair<Pair: MirrorPair>(
        _ kind: Pair.Type, from source: String, _ settings: Settings, _ folders: inout [String]
    ) async throws -> Measurement {
        let folder = settings.folder("pair")
        folders.append(folder)
        let pair = try await Pair.start(in: folder) { try LocalFiles.write("here", to: $0 + "/first.md") }
        _ = try await pair.wait("the first note") { LocalFiles.exists(pair.two + "/first.md") }
        let wanted = FileTree(source).files
        let start = ContinuousClock.now
        try await copy(source, to: pair.one)
        let seconds = try await pair.wait("the files", since: start, pause: .milliseconds(20), limit: 900) {
            wanted.allSatisfy { LocalFiles.exists(pair.two + "/" + $0) }
        }
        await pair.end()
        return Measurement(seconds: seconds)
    }

    private static func peers(
        _ names: [String], _ source: String, _ folder: String, _ up: inout [String: [Measurement]],
        _ down: inout [String: [Measurement]]
    ) async throws {
        let nginx = try await Nginx.start(in: folder)
        defer { nginx.stop() }
        for number in 0...((names.count - 1) / 100) { LocalFiles.makeFolder("\(nginx.root)/curl/album-\(number)") }
        let uploads = names.map { "upload-file = \"\(source)/\($0)\"\nurl = \"\(nginx.url)/curl/\($0)\"\n" }
        let downloads = names.map { "output = \"\(folder)/curl/\($0)\"\nurl = \"\(nginx.url)/curl/\($0)\"\n" }
        for (list, isUp) in [(uploads, true), (downloads, false)] {
            let config = "\(folder)/curl.\(isUp)"
            try LocalFiles.write(list.joined(), to: config)
            let run = try await Stopwatch.run(
                "curl", ["-sS", "-Z", "--parallel-max", "8", "--create-dirs", "-K", config], in: folder)
            if isUp {
                up["curl -Z > nginx, no fsync", default: []].append(run)
            } else {
                down["curl -Z < nginx, no fsync", default: []].append(run)
            }
        }
        guard Peer.rclone.isInstalled else { return }
        let remote = ":webdav,url='\(nginx.url)/rclone':"
        LocalFiles.makeFolder(nginx.root + "/rclone")
        let environment = ["HOME": folder, "XDG_CONFIG_HOME": folder + "/rclone-config"]
        let flags = await Peer.rcloneFlags()
        for (from, to, isUp) in [(source, remote, true), (remote, folder + "/rclone-down", false)] {
            let run = try await Stopwatch.run(
                "rclone", ["copy", from, to, "--exclude", ".byteclub/**", "--exclude", ".byteclub*"] + flags,
                environment: environment, in: folder)
            if isUp {
                up["rclone > nginx, no fsync", default: []].append(run)
            } else {
                down["rclone < nginx, no fsync", default: []].append(run)
            }
        }
    }

    /// Copies a folder's contents, except links and files that a sync keeps for itself.
    private static func copy(_ source: String, to folder: String) async throws {
        LocalFiles.makeFolder(folder)
        let script = """
            cd "$1" && find . -maxdepth 1 -mindepth 1 ! -name '.byteclub*' -exec cp -r -t "$2" {} + \
                && find "$2" -type l -delete
            """
        let copied = try await Program.run("/bin/sh", ["-c", script, "sh", source, folder], timeout: .seconds(900))
        guard copied.status == 0 else { throw Stopwatch.Failure(description: "\(copied)") }
    }
}
