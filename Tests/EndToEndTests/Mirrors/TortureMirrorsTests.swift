import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Grown by `Tests/Tools/soak`; a slice of it runs with all other tests.
    @Suite("Torture of mirrors") struct TortureMirrorsTests {
        @Test(
            "mirrors edited while clients and server are killed and networks are cut agree in the end, and lose no text"
        )
        func storm() async throws {
            let seed = Sample.seed("torture of mirrors")
            let clock = ContinuousClock()
            let start = clock.now
            let time = Settings.number("BYTECLUB_MINUTES").map { Duration.seconds($0 * 60) } ?? .seconds(15)
            var torture = try await MirrorTorture.start(seed: seed)
            repeat {
                try await torture.storm(for: min(time, .seconds(15)))
                try await torture.calm()
                try await torture.expectNothingLost()
                try await torture.deleteSome()
                try await torture.calm()
                try await torture.expectNothingLost()
            } while clock.now - start < time && torture.isWell
            try await torture.finish()
            print(
                "torture of mirrors: \(torture.counts), \(torture.ledger.issued.count) texts, "
                    + "\(torture.photos.issued.count) photos, \(torture.conflictCopies) conflict copies, "
                    + "in \(clock.now - start)")
        }
    }
}

/// Three mirrors that sync all the time, what is done to them, and what must be found again.
struct MirrorTorture {
    let club: Club
    private(set) var ledger = TextLedger()
    private(set) var photos = PhotoLedger()
    private(set) var counts: [String: Int] = [:]
    private(set) var isWell = true
    private var thrownAway = 0
    private let members: [MemberMachine]
    private let networks: [RoughNetwork]
    private var running: [Int: SpawnedProcess] = [:]
    private var generator: SeededGenerator
    /// How many folders there are at first, each with a note in it: `BYTECLUB_FOLDERS`, 60 unless it is set.
    private let folders = Settings.number("BYTECLUB_FOLDERS") ?? 60
    private static let mostPhotos = 40
    private static let lifetime = Duration.seconds(36_000)

    static func start(seed: UInt64) async throws -> MirrorTorture {
        let club = try await Club.start(lifetime: Self.lifetime)
        var members: [MemberMachine] = []
        var networks: [RoughNetwork] = []
        for name in ["ann", "bo", "cy"] {
            networks.append(try RoughNetwork(to: club.server.port))
            members.append(try await club.member(name, through: networks.last?.url))
        }
        // One of them speaks with the server as with any other.
        members[2].environment["BYTECLUB_PLAIN"] = "1"
        var torture = MirrorTorture(
            club: club, members: members, networks: networks, generator: SeededGenerator(seed: seed))
        for folder in [torture.bin, torture.camera] { LocalFiles.makeFolder(folder) }
        try torture.makeLibrary()
        for index in members.indices { try torture.run(index) }
        return torture
    }

    private init(club: Club, members: [MemberMachine], networks: [RoughNetwork], generator: SeededGenerator) {
        (self.club, self.members, self.networks, self.generator) = (club, members, networks, generator)
    }

    var conflictCopies: Int { FileTree(members[0].mirror).files.filter { $0.contains(", conflict ") }.count }

    /// Edits at random, kills clients and the server, and makes networks slow, still or cut.
    mutating func storm(for time: Duration) async throws {
        let clock = ContinuousClock()
        let end = clock.now + time
        while clock.now < end {
            let index = Int.random(in: 0..<members.count, using: &generator)
            switch Int.random(in: 0..<400, using: &generator) {
            case 0..<8: try await kill(index)
            case 8: try await restartServer()
            case 9..<24: change(networks[index])
            default: try act(in: members[index].mirror, of: members[index].name)
            }
            try await expectRunning()
            for index in members.indices where running[index] == nil {
                if Int.random(in: 0..<20, using: &generator) == 0 { try run(index) }
            }
            try await clock.sleep(for: .milliseconds(Int.random(in: 0..<30, using: &generator)))
        }
    }

    /// Waits until all mirrors and the server are the same.
    mutating func calm() async throws {
        for network in networks { network.become(.clear) }
        for index in members.indices where running[index] == nil { try run(index) }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(180)
        let api = try ClubAPI(server: club.server, token: club.api.token)
        var differences: [String] = []
        repeat {
            try await clock.sleep(for: .milliseconds(100))
            try await expectRunning()
            differences = try await Self.differences(members, api)
        } while !differences.isEmpty && clock.now < end
        await api.close()
        if differences.isEmpty { return }
        isWell = false
        try await keepFolders()
        let told = members.indices.map { index in
            "\(members[index].name) says: \(running[index]?.errorsSoFar.suffix(600) ?? "nothing")"
        }
        Issue.record("the mirrors and the server do not agree:\n\((differences + told).joined(separator: "\n"))")
    }

    /// Deletes files of which all agree, with a kill in between; none may come back.
    mutating func deleteSome() async throws {
        for path in LocalTree(members[0].mirror).files.shuffled(using: &generator).prefix(6) {
            let index = Int.random(in: 0..<members.count, using: &generator)
            let file = members[index].mirror + "/" + path
            // Copies of it are not deleted.
            if PhotoLedger.isPhoto(path) {
                let photo = ContentHasher.hash(Fixture.bytes(at: file))
                photos.excuse([photo])
                let others = PhotoLedger.photos(in: FileTree(members[0].mirror)).filter { $0.key != path }
                if !others.values.contains(photo) { photos.delete([photo]) }
            } else {
                let lines = TextLedger.lines(of: file)
                ledger.excuse(lines)
                ledger.delete(lines.subtracting(liveLines(besides: path)))
            }
            TemporaryDirectory.remove(file)
            count("calm deletions")
            if Int.random(in: 0..<3, using: &generator) == 0 {
                try await kill(Int.random(in: 0..<members.count, using: &generator))
            }
        }
    }

    /// Every text that nobody took away is somewhere, none that was deleted is in a file, and none is made up.
    mutating func expectNothingLost() async throws {
        var live: Set<String> = []
        var livePhotos: Set<ContentHash> = []
        for member in members {
            for (path, photo) in PhotoLedger.photos(in: FileTree(member.mirror)) {
                expect(photos.issued.contains(photo), "\(member.name)'s \(path) is a photo that nobody took: \(photo)")
                livePhotos.insert(photo)
            }
            for path in LocalTree(member.mirror).files where !PhotoLedger.isPhoto(path) {
                let lines = TextLedger.lines(of: member.mirror + "/" + path)
                let strange = lines.filter { !ledger.issued.contains($0) }
                expect(
                    strange.isEmpty, "\(member.name)'s \(path) has what nobody wrote: \(strange.map { $0.prefix(60) })")
                live.formUnion(lines)
            }
        }
        let zombies = live.intersection(ledger.deleted)
        expect(zombies.isEmpty, "deleted texts came back: \(zombies.map { $0.prefix(40) }.sorted().prefix(5))")
        let photoZombies = livePhotos.intersection(photos.deleted)
        expect(photoZombies.isEmpty, "deleted photos came back: \(photoZombies.prefix(5))")
        try await expectPhotosKept(besides: livePhotos)
        var missing = ledger.issued.subtracting(ledger.excused).subtracting(live)
        if !missing.isEmpty { missing.subtract(TextLedger.lines(below: bin)) }
        for member in members where !missing.isEmpty {
            missing.subtract(TextLedger.lines(below: member.mirror + "/.byteclub"))
        }
        if !missing.isEmpty { missing.subtract(try await TextLedger.lines(ofServer: club.server.data)) }
        if !missing.isEmpty { try await keepFolders() }
        expect(missing.isEmpty, "lost: \(missing.map { $0.prefix(40) }.sorted().prefix(10)) of \(missing.count)")
    }

    private mutating func expectPhotosKept(besides live: Set<ContentHash>) async throws {
        var missing = photos.issued.subtracting(photos.excused).subtracting(live).filter {
            !PhotoLedger.isKept($0, byServer: club.server.data)
        }
        for member in members where !missing.isEmpty {
            missing.subtract(PhotoLedger.photos(in: FileTree(member.mirror + "/.byteclub")).values)
        }
        if !missing.isEmpty { try await keepFolders() }
        expect(missing.isEmpty, "photos are lost: \(missing.prefix(10)) of \(missing.count)")
    }

    /// Ends the clients; a sync of each then has nothing to do.
    mutating func finish() async throws {
        for (_, process) in running {
            process.send(SIGINT)
            let result = await process.result()
            expect(result.status == 130, "\(result)")
        }
        running = [:]
        for member in members { try await expectSynced(member) }
        let differences = try await Self.differences(members, try ClubAPI(server: club.server, token: club.api.token))
        expect(differences.isEmpty, "no agreement in the end:\n\(differences.joined(separator: "\n"))")
        for member in members {
            let result = try await member.sync("--json")
            expect(result.status == 0 && result.lines.count == 1, "a second sync did something: \(result)")
        }
    }

    private mutating func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) {
        if isTrue { return }
        isWell = false
        Issue.record("\(what())")
    }

    private mutating func count(_ what: String) { counts[what, default: 0] += 1 }

    private mutating func run(_ index: Int) throws {
        running[index] = try members[index].start(
            ["sync", members[index].mirror, "--force-deletes"], timeout: Self.lifetime)
    }

    private mutating func kill(_ index: Int) async throws {
        guard let process = running[index] else { return }
        try await beginTransfer()
        process.kill9()
        _ = await process.result()
        running[index] = nil
        count("kills")
    }

    private mutating func restartServer() async throws {
        try await beginTransfer()
        await club.server.kill9()
        try await ContinuousClock().sleep(for: .milliseconds(Int.random(in: 0..<500, using: &generator)))
        try await club.server.start()
        count("server kills")
    }

    /// Makes sure that something large is on its way.
    private mutating func beginTransfer() async throws {
        guard let member = members.randomElement(using: &generator) else { return }
        let tree = LocalTree(member.mirror)
        try tree.photos.count < Self.mostPhotos ? takePhoto(in: tree) : editPhoto(in: tree)
        try await ContinuousClock().sleep(for: .milliseconds(Int.random(in: 0..<300, using: &generator)))
    }

    private mutating func change(_ network: RoughNetwork) {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0..<3: network.become(.clear)
        case 3:
            network.become(.cut)
            count("networks cut")
        case 4:
            network.become(.slow(bytesPerSecond: Int.random(in: 2_000..<100_000, using: &generator)))
            count("networks slow")
        default:
            network.become(.still)
            count("networks still")
        }
    }

    /// A sync that goes on does so whatever happens, unless it is killed.
    private mutating func expectRunning() async throws {
        for index in members.indices {
            guard let process = running[index], process.hasEnded else { continue }
            if isWell { try await keepFolders() }
            isWell = false
            Issue.record("\(members[index].name)'s sync has ended by itself: \(process.errorsSoFar.suffix(600))")
            try run(index)
        }
    }

    /// Copies all there is to where `BYTECLUB_KEEP` says.
    private func keepFolders() async throws {
        guard let folder = Settings.text("BYTECLUB_KEEP") else { return }
        _ = try await Program.run("/bin/cp", ["-a", club.folder.path, folder])
    }

    private func liveLines(besides path: String) -> Set<String> {
        var lines: Set<String> = []
        for other in LocalTree(members[0].mirror).files where other != path && !PhotoLedger.isPhoto(other) {
            lines.formUnion(TextLedger.lines(of: members[0].mirror + "/" + other))
        }
        return lines
    }

    private static func differences(_ members: [MemberMachine], _ api: ClubAPI) async throws -> [String] {
        let trees = members.map { FileTree($0.mirror) }
        for (member, tree) in zip(members, trees).dropFirst() {
            let difference = trees[0].difference(from: tree)
            if !difference.isEmpty { return ["ann / \(member.name)"] + difference }
        }
        var shared: [String: ContentHash?] = [:]
        for metadata in try await api.tree("/byteclub").values where metadata.path.components.count > 1 {
            let path = metadata.path.components.dropFirst().joined(separator: "/").lowercased()
            shared.updateValue(metadata.contentHash, forKey: path)
        }
        var mirrored: [String: ContentHash?] = [:]
        for (path, entry) in trees[0].entries {
            let hash: ContentHash? = if case .file(_, let hash) = entry { hash } else { nil }
            mirrored.updateValue(hash, forKey: path.lowercased())
        }
        return Set(shared.keys).union(mirrored.keys).sorted().filter { shared[$0] != mirrored[$0] }.map {
            "ann / server: \($0)"
        }
    }
}

extension MirrorTorture {
    private mutating func act(in mirror: String, of name: String) throws {
        let tree = LocalTree(mirror)
        let folders = tree.folders
        let file = tree.files.randomElement(using: &generator)
        switch Int.random(in: 0..<100, using: &generator) {
        case 0:
            try tree.photos.count < Self.mostPhotos ? takePhoto(in: tree) : editPhoto(in: tree)
        case 1..<25:
            let path = newPath(folders, "note")
            if LocalFiles.exists(mirror + "/" + path) || tree.files.count > self.folders + 150 { return }
            try Self.write(Array(text(by: name).utf8), to: mirror + "/" + path)
            count("created")
        case 25..<65:
            guard let file else { return }
            if PhotoLedger.isPhoto(file) { return try editPhoto(in: tree) }
            try edit(mirror + "/" + file, by: name)
        case 65..<78:
            guard let file else { return }
            let suffix = PhotoLedger.isPhoto(file) ? ".jpg" : ".md"
            move(mirror + "/" + file, to: mirror + "/" + newPath(folders, "moved", suffix), "moved")
        case 78..<84:
            guard let folder = folders.randomElement(using: &generator) else { return }
            let target = newPath(folders.filter { !($0 + "/").hasPrefix(folder + "/") }, "folder", "")
            move(mirror + "/" + folder, to: mirror + "/" + target, "folders moved")
        case 84..<90:
            LocalFiles.makeFolder(
                mirror + "/" + newPath(folders.filter { $0.split(separator: "/").count < 4 }, "folder", ""))
            count("folders made")
        case 90..<98:
            guard let file else { return }
            throwAway(mirror + "/" + file)
            count("deleted")
        default:
            guard let folder = folders.randomElement(using: &generator) else { return }
            throwAway(mirror + "/" + folder)
            count("folders deleted")
        }
    }

    /// Deletes something, with all that is in it at this very moment or comes into it by a name that is still open.
    private mutating func throwAway(_ path: String) {
        thrownAway += 1
        let thrown = bin + "/\(thrownAway)"
        unsafe rename(path, thrown)
        // Photos are much to keep: these need not be found from now on.
        let tree = FileTree(thrown)
        photos.excuse(Set(PhotoLedger.photos(in: tree).values))
        if PhotoLedger.isPhoto(path) { photos.excuse([ContentHasher.hash(Fixture.bytes(at: thrown))]) }
        for photo in PhotoLedger.photos(in: tree).keys { TemporaryDirectory.remove(thrown + "/" + photo) }
        if PhotoLedger.isPhoto(path) { TemporaryDirectory.remove(thrown) }
    }

    /// Where what was deleted lies, to be looked at when something is missing.
    private var bin: String { club.folder.path + "/bin" }

    /// Folders in folders, with a note in each.
    private mutating func makeLibrary() throws {
        let ann = members[0]
        var made = [""]
        for number in 0..<folders {
            let parents = made.filter { $0.utf8.count { $0 == UInt8(ascii: "/") } < 6 }
            let folder = (parents.randomElement(using: &generator) ?? "") + "/library \(number)"
            made.append(folder)
            try Self.write(Array(text(by: ann.name).utf8), to: ann.mirror + folder + "/about \(number).md")
        }
    }

    /// Puts a photo of up to 20 MiB in a folder, whole as cards are imported.
    private mutating func takePhoto(in tree: LocalTree) throws {
        let taken = camera + "/taken.jpg"
        let head = Sample.photo(Int.random(in: 0..<100, using: &generator), using: &generator)
        // Small ones are as many as large ones: each length has twice the chance of its double.
        let length = 80_000 << Int.random(in: 0..<8, using: &generator)
        try LocalFiles.writeLarge(
            head: head, length: head.count + Int.random(in: length..<length * 2, using: &generator),
            seed: generator.next(), to: taken)
        place(taken, at: tree.root + "/" + newPath(tree.folders, "photo", ".jpg"))
        count("photos taken")
    }

    /// Changes some bytes of a photo, as programs for captions do.
    private mutating func editPhoto(in tree: LocalTree) throws {
        guard let photo = tree.photos.randomElement(using: &generator) else { return }
        var bytes = Fixture.bytes(at: tree.root + "/" + photo)
        guard bytes.count > 1_000 else { return }
        photos.excuse([ContentHasher.hash(bytes)])
        let offset = bytes.count - 100
        unsafe withUnsafeBytes(of: generator.next()) { unsafe bytes.replaceSubrange(offset..<offset + 8, with: $0) }
        let edited = camera + "/edited.jpg"
        try LocalFiles.write(bytes, to: edited)
        place(edited, at: tree.root + "/" + photo)
        count("photos edited")
    }

    private mutating func place(_ photo: String, at path: String) {
        let bytes = Fixture.bytes(at: photo)
        if LocalFiles.exists(path) { photos.excuse([ContentHasher.hash(Fixture.bytes(at: path))]) }
        LocalFiles.makeFolder(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
        photos.issue(bytes)
        unsafe rename(photo, path)
    }

    /// Where photos are before they come into a mirror.
    private var camera: String { club.folder.path + "/camera" }

    /// Writes into a file, or puts another in its place, as editors do.
    private mutating func edit(_ path: String, by name: String) throws {
        let old = Fixture.bytes(at: path)
        let isAppended = Bool.random(using: &generator) && old.count < 20_000
        if !isAppended { ledger.excuse(TextLedger.lines(in: old)) }
        let new = (isAppended ? old : []) + Array(text(by: name).utf8)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
            try Self.write(new, to: path)
            count("edited in place")
        case 1:
            try Self.write(new, to: path + ".part")
            unsafe rename(path + ".part", path)
            count("edited by rename")
        default:
            throwAway(path + ".bak")
            unsafe rename(path, path + ".bak")
            try Self.write(new, to: path)
            count("edited with a backup")
        }
    }

    /// Writes a file, and once more when a sync takes the folder away that was just made for it.
    private static func write(_ bytes: [UInt8], to path: String) throws {
        do {
            try LocalFiles.write(bytes, to: path)
        } catch let error as LocalFiles.WriteError where error.errno == ENOENT {
            try Self.write(bytes, to: path)
        }
    }

    private mutating func move(_ from: String, to target: String, _ what: String) {
        if LocalFiles.exists(target) { return }
        LocalFiles.makeFolder(String(target[..<(target.lastIndex(of: "/") ?? target.endIndex)]))
        unsafe rename(from, target)
        count(what)
    }

    private mutating func newPath(_ folders: [String], _ name: String, _ suffix: String = ".md") -> String {
        let folder = Int.random(in: 0..<3, using: &generator) == 0 ? nil : folders.randomElement(using: &generator)
        let number = Int.random(in: 0..<60, using: &generator)
        return (folder.map { $0 + "/" } ?? "") + "\(name) \(number)" + suffix
    }

    /// A line that is like no other.
    private mutating func text(by name: String) -> String {
        let length =
            Int.random(in: 0..<10, using: &generator) == 0 ? 20_000 : Int.random(in: 0..<300, using: &generator)
        return ledger.issue(by: name, length: length) + "\n"
    }
}

/// The folders and files of a mirror as they are now, which need not be read for that.
private struct LocalTree {
    let root: String
    private(set) var folders: [String] = []
    private(set) var files: [String] = []

    init(_ root: String) {
        self.root = root
        for path in FileTree.paths(below: root, leavingOut: [".byteclub"]) {
            var status = stat()
            guard unsafe lstat(root + "/" + path, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: folders.append(path)
            case S_IFREG: files.append(path)
            default: break
            }
        }
    }

    var photos: [String] { files.filter(PhotoLedger.isPhoto) }
}
