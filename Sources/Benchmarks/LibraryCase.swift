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
    private static let syncthing = "syncthing, mirror to mirror"

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
        var ways = UpAndDown(ours: "byteclub sync, durable", limit: "limit: cp -r, one syncfs")
        var across = Runs()
        for round in 0..<settings.rounds {
            let folder = settings.folder("library")
            folders.append(folder)
            let club = try await Club.open(["ann", "bo", "cy"], in: folder)
            let (ann, cy) = (club.members[0], club.members[2])
            try await write(ann.mirror, round)
            try await ways.sync(club)
            if names != nil {
                let albums = (0...((files - 1) / 100)).map { ann.mirror + "/album-\($0)" }
                ways.up.add(
                    "byteclub photos upload, durable", try await cy.timed(["photos", "upload"] + albums, in: folder))
                let target = folder + "/downloads"
                LocalFiles.makeFolder(target)
                ways.down.add(
                    "byteclub photos download, durable",
                    try await cy.timed(["photos", "download", "*.jpg", "-o", target], in: folder))
                guard FileTree(target).files.count == files else {
                    throw Stopwatch.Failure(description: "photos are missing in '\(target)'")
                }
            }
            await club.close()
            if let names {
                try await ways.addPeers(names, from: ann.mirror, in: folder, parallel: 8) { _ in
                    (["--exclude", ".byteclub/**", "--exclude", ".byteclub*"], 1)
                }
            }
            let start = ContinuousClock.now
            try await copy(ann.mirror, to: folder + "/limit")
            try ways.addLimit(since: start, in: folder)
            let pairs: [(String, any MirrorPair.Type)] = [
                ("byteclub, mirror to mirror", ByteClubPair.self), (syncthing, SyncthingPair.self),
            ]
            for (name, kind) in pairs where kind.isInstalled {
                across.add(name, try await pair(kind, from: ann.mirror, settings, &folders))
            }
        }
        let (unit, amount) = mebibytes.map { ("MiB/s", $0) } ?? ("files/s", Double(files))
        return [
            ways.up.table(title + ", up", unit: unit, amount: amount, reference: ways.limit),
            ways.down.table(title + ", down", unit: unit, amount: amount, reference: ways.limit),
            across.table(title + ", both running", unit: unit, amount: amount, reference: syncthing),
            ways.processorTime(
                title + ", processor time of each", files: files, unit: "ms", perSecond: 1e3, digits: 2),
        ]
    }

    /// From the moment in which files are copied into one of two running mirrors until all of them are in the other.
    private static func pair(
        _ kind: any MirrorPair.Type, from source: String, _ settings: Settings, _ folders: inout [String]
    ) async throws -> Measurement {
        let folder = settings.folder("pair")
        folders.append(folder)
        let pair = try await kind.start(in: folder) { try LocalFiles.write("here", to: $0 + "/first.md") }
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

    /// Copies a folder's contents, except links and files that a sync keeps for itself.
    private static func copy(_ source: String, to folder: String) async throws {
        LocalFiles.makeFolder(folder)
        let script = """
            cd "$1" && find . -maxdepth 1 -mindepth 1 ! -name '.byteclub*' -exec cp -r -t "$2" {} + \
                && find "$2" -type l -delete
            """
        try await Program.run("/bin/sh", ["-c", script, "sh", source, folder], timeout: .seconds(900)).succeeded()
    }
}
