import ByteClubCore
import TestSupport
import Testing

extension EndToEnd {
    @Suite("kill -9 of the client") struct ClientKillTests {
        @Test("at random points of syncs shows no torn file and loses nothing, and the next sync converges")
        func kills() async throws {
            let seed = Sample.seed("client kills")
            let club = try await Club.start()
            var run = ClientKillRun(
                ann: try await club.member("ann"), bo: try await club.member("bo"), seed: seed)
            try await run.prepare()
            var rounds = 0
            while run.kills < Settings.kills {
                rounds += 1
                try #require(rounds < Settings.kills * 3, "most syncs end before they are killed")
                try run.edit(big: rounds % 20 == 10)
                try await run.killUpload()
                try await run.killDownload()
                if rounds % 4 == 0 {
                    try await expectSynced(run.ann)
                    try run.delete()
                }
                if rounds % 8 == 0 { try await expectSynced(run.bo) }
            }
            for member in [run.ann, run.bo, run.ann] { try await expectSynced(member) }
            try await expectEqual([run.ann, run.bo], club)
            run.expectNothingLost()
            print("client kills: \(run.kills) in \(rounds) rounds, \(run.conflictCopies) conflict copies")
        }
    }
}

/// Ann edits, Bo receives, and both are killed; remembers every version that was ever written.
struct ClientKillRun {
    let ann: MemberMachine
    let bo: MemberMachine
    private(set) var kills = 0
    private var uploadTime = Duration.zero
    private var downloadTime = Duration.zero
    private var generator: SeededGenerator
    private var versions: [String: Set<ContentHash>] = [:]
    private var latest: [String: ContentHash] = [:]
    private var deleted: Set<String> = []
    private var created = 0

    init(ann: MemberMachine, bo: MemberMachine, seed: UInt64) {
        self.ann = ann
        self.bo = bo
        generator = SeededGenerator(seed: seed)
    }

    /// Fills the mirrors and measures how long syncs of such edits take when nobody kills them.
    mutating func prepare() async throws {
        try fill()
        try await expectSynced(ann)
        try await expectSynced(bo)
        var times: [(up: Double, down: Double)] = []
        for _ in 0..<3 {
            try edit(big: false)
            times.append((try await ann.sync().seconds, try await bo.sync().seconds))
        }
        uploadTime = .seconds(times.map(\.up).max() ?? 0.2)
        downloadTime = .seconds(times.map(\.down).max() ?? 0.2)
        print("client kills: a sync takes \(uploadTime) up and \(downloadTime) down")
    }

    mutating func fill() throws {
        for _ in 0..<60 { try create() }
        for index in 0..<4 { try write("photos/\(index).jpg", Sample.photo(index, using: &generator)) }
    }

    mutating func edit(big: Bool) throws {
        for path in latest.keys.sorted().shuffled(using: &generator).prefix(20) where path.hasSuffix(".md") {
            let length = Int.random(in: 100..<6000, using: &generator)
            try write(path, Sample.note(path, length: length, using: &generator))
        }
        for _ in 0..<4 { try create() }
        let photo = Int.random(in: 0..<4, using: &generator)
        try write("photos/\(photo).jpg", Sample.photo(photo, using: &generator))
        if big {
            var bytes = Sample.photo(0, using: &generator)
            bytes += [UInt8](repeating: 7, count: 9 << 20)
            try write("photos/big.jpg", bytes)
        }
    }

    /// Deletes notes; only after a whole sync, since a delete of what the server has a newer version of is not done.
    mutating func delete() throws {
        let notes = latest.keys.filter { $0.hasSuffix(".md") }.sorted().shuffled(using: &generator)
        for path in notes.prefix(3) {
            TemporaryDirectory.remove(ann.mirror + "/" + path)
            latest[path] = nil
            deleted.insert(path)
        }
    }

    mutating func killUpload() async throws { uploadTime = try await killSync(of: ann, within: uploadTime) }

    mutating func killDownload() async throws { downloadTime = try await killSync(of: bo, within: downloadTime) }

    /// Kills a sync at a random point, and tells within which time to kill the next one, so that one in ten ends first.
    private mutating func killSync(of member: MemberMachine, within time: Duration) async throws -> Duration {
        let process = try member.start(["sync", member.mirror, "--once"])
        try await ContinuousClock().sleep(for: time * Double.random(in: 0..<1.1, using: &generator))
        process.kill9()
        let result = await process.result()
        if result.signal == 9 {
            kills += 1
        } else {
            #expect(result.status == 0, "\(result)")
        }
        expectNoTornFile(in: member)
        return time * (result.signal == 9 ? 1.01 : 0.9)
    }

    func expectNoTornFile(in member: MemberMachine) {
        for (path, entry) in FileTree(member.mirror).entries {
            switch entry {
            case .folder: continue
            case .file(let bytes, let hash):
                let isKnown = versions[Self.original(of: path)]?.contains(hash) ?? false
                #expect(isKnown, "after kill \(kills), \(member.name) sees \(path) with \(bytes) strange bytes")
            default: Issue.record("\(path) is neither file nor folder")
            }
        }
    }

    func expectNothingLost() {
        let tree = FileTree(ann.mirror)
        var found: [String: Set<ContentHash>] = [:]
        for (path, entry) in tree.entries {
            if case .file(_, let hash) = entry { found[Self.original(of: path), default: []].insert(hash) }
        }
        for (path, hash) in latest {
            #expect(found[path]?.contains(hash) == true, "ann's last version of \(path) is lost")
        }
        for path in deleted { #expect(tree.entries[path] == nil, "\(path) came back") }
    }

    var conflictCopies: Int { FileTree(ann.mirror).files.filter { Self.original(of: $0) != $0 }.count }

    private mutating func create() throws {
        created += 1
        let path = "folder \(created % 5)/note \(created).md"
        try write(path, Sample.note(path, length: 1500, using: &generator))
    }

    private mutating func write(_ path: String, _ bytes: [UInt8]) throws {
        let hash = ContentHasher.hash(bytes)
        versions[path, default: []].insert(hash)
        latest[path] = hash
        try LocalFiles.write(bytes, to: ann.mirror + "/" + path)
    }

    /// The path that a conflict copy was made of.
    private static func original(of path: String) -> String {
        let names = path.split(separator: "/").map { part in
            var name = String(part)
            while let original = ConflictName.original(of: name) { name = original }
            return name
        }
        return names.joined(separator: "/")
    }
}
