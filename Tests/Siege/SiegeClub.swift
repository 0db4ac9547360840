import ByteClubCore
import Glibc
import TestSupport

/// A club as in production: its server, members, contents, and the contents that an attacking editor has planted.
struct SiegeClub: Sendable {
    /// An account with a token, and with a password for the pages if it has one.
    struct Account: Sendable {
        let name: String
        let token: String
        var password: String?
    }

    /// The most bytes that the club stores.
    static let quota: Int64 = 512 << 20
    /// The most bytes that one member stores.
    static let memberQuota: Int64 = 128 << 20

    let server: ServerProcess
    let pid: pid_t
    /// The honest ones; the first has a password.
    let members: [Account]
    let viewer: Account
    let editor: Account
    /// Photos that are there from the start.
    let photos: [String]
    /// Pictures on pages of public links, as targets, that cost a decoder seconds.
    let bombs: [String]
    /// The page of the public link to a folder of many names.
    let sharedFolder: String
    /// A chunk of 4 MiB that the editor has sent.
    let chunk: ContentHash
    /// How many names the large folder has.
    let names: Int

    /// The server's port.
    var port: UInt16 { server.port }

    /// Starts a server of the programs given and fills it.
    static func open(in folder: String, programs: String, plan: SiegePlan) async throws -> SiegeClub {
        let server = try await ServerProcess(
            data: folder + "/data",
            arguments: ["--quota", "\(quota)", "--member-quota", "\(memberQuota)"], programs: programs,
            lifetime: .seconds(plan.seconds * 2 + 600))
        guard let pid = server.process?.pid else { throw Stopwatch.Failure(description: "the server has ended") }
        let owner = Account(name: "Warden", token: try await server.addMember("Warden"))
        let viewer = Account(name: "Vic", token: try await server.addMember("Vic", role: "viewer"))
        let editor = Account(name: "Eve", token: try await server.addMember("Eve"))
        var members: [Account] = []
        for number in 1...plan.members {
            let name = "Member \(number)"
            var member = Account(name: name, token: try await server.addMember(name))
            if number == 1 {
                member.password = "correct horse battery"
                try await server.setPassword("correct horse battery", of: name)
            }
            members.append(member)
        }
        let port = server.port
        let planted = try await BackgroundThread.run { [editor] in
            Result { try Planting(port: port, owner: owner, editor: editor).plant(names: plan.names) }
        }.get()
        return SiegeClub(
            server: server, pid: pid, members: members, viewer: viewer, editor: editor, photos: planted.photos,
            bombs: planted.bombs, sharedFolder: planted.folder, chunk: planted.chunk, names: plan.names)
    }
}

/// Fills a new club; its calls block.
private struct Planting {
    struct Planted: Sendable {
        var photos: [String] = []
        var bombs: [String] = []
        var folder = ""
        var chunk: ContentHash
    }

    let port: UInt16
    let owner: SiegeClub.Account
    let editor: SiegeClub.Account
    private let connection: HouseholdConnection

    init(port: UInt16, owner: SiegeClub.Account, editor: SiegeClub.Account) throws {
        (self.port, self.owner, self.editor) = (port, owner, editor)
        guard let connection = HouseholdConnection(port: port, from: LoopbackAddress(2, 1)) else {
            throw Stopwatch.Failure(description: "cannot connect to port \(port)")
        }
        self.connection = connection
    }

    func plant(names: Int) throws -> Planted {
        guard !Fixture.bytes("panoramas/city.jpg").isEmpty else {
            throw Stopwatch.Failure(description: "the fixtures are not at \(Fixture.path(""))")
        }
        try fill("archive", names: names)
        let chunk = noise(4 << 20, seed: 11)
        var planted = Planted(chunk: ContentHasher.hash(chunk))
        for (number, name) in ["city", "forest", "courtyard", "sunrise", "studio", "progressive", "night"].enumerated()
        {
            let path = "/photos/first-\(number).jpg"
            let photo = SiegePhoto.bytes(name, "first")
            try send(RawRequest.send("PUT", "/1/files_put/auto" + path, token: owner.token, body: photo))
            planted.photos.append(path)
        }
        // Some below the number of scans at which the decoder stops, some above it.
        for number in 0..<8 {
            let bytes = ProgressiveBomb.make(side: 4_000, scans: number % 4 == 3 ? 700 : 499, number: number)
            try send(
                RawRequest.send("PUT", "/1/files_put/auto/traps/bomb-\(number).jpg", token: editor.token, body: bytes))
        }
        let traps = try link("/traps")
        planted.bombs = (0..<8).map { "\(traps)/bomb-\($0).jpg?picture=1" }
        planted.folder = try link("/archive")
        let upload = RawRequest.send("PUT", "/1/sync/chunks/\(planted.chunk)", token: editor.token, body: chunk)
        try send(upload, accepts: 200..<300)
        return planted
    }

    /// A public link to a folder, as a target.
    private func link(_ path: String) throws -> String {
        let answer = try send(RawRequest.send("POST", "/1/shares/auto" + path, token: editor.token, body: []))
        guard let url = JSONMember.text("url", in: answer.body), let start = url.firstRange(of: "/s/") else {
            throw Stopwatch.Failure(description: "no link: \(answer.text)")
        }
        return String(url[start.lowerBound...])
    }

    /// Notes of a few bytes, all in one folder.
    private func fill(_ folder: String, names: Int) throws {
        var parent = SyncOperation.Parent.operation(0)
        for first in stride(from: 0, to: names, by: 999) {
            var operations: [SyncOperation] = []
            var contents: [[UInt8]] = []
            func add(_ name: String, _ place: SyncOperation.Parent, _ content: [UInt8]?) {
                guard let id = OperationID("siege-\(first)-\(operations.count)") else { return }
                let announced = content.map { SyncOperation.Content(bytes: Int64($0.count)) }
                operations.append(SyncOperation(id, .create(.init(place, name), announced)))
                if let content { contents.append(content) }
            }
            if first == 0 { add(folder, .node(.root), nil) }
            for number in first..<min(first + 999, names) {
                add("a note of the year \(1900 + number % 100), number \(number).md", parent, Array("\(number)\n".utf8))
            }
            var json = JSONText()
            SyncBatch(operations).write(to: &json)
            let answer = try send(
                RawRequest.send(
                    "POST", "/1/sync/batch", token: owner.token, body: SyncFrame.join(json.bytes, contents),
                    type: SyncFrame.mime))
            let outcome = try JSONReader.read(SyncOutcome.self, from: answer.body)
            guard outcome.results.allSatisfy(\.isDone) else {
                throw Stopwatch.Failure(description: "the club does not take its notes: \(answer.text.prefix(300))")
            }
            if first == 0, let made = outcome.results.first?.entry { parent = .node(made.node) }
        }
    }

    @discardableResult
    private func send(_ request: [UInt8], accepts: Range<Int> = 200..<201) throws -> RawMessage {
        guard let answer = connection.exchange(request) else {
            throw Stopwatch.Failure(description: "the server has closed the connection")
        }
        guard accepts.contains(answer.status) else {
            let line = String(decoding: request.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
            throw Stopwatch.Failure(description: "\(line): \(answer.start) \(answer.text.prefix(300))")
        }
        return answer
    }
}

/// Photos of the fixtures, each made a content of its own by a comment.
enum SiegePhoto {
    /// The bytes of a fixture with a comment after its first marker (ITU-T T.81, B.2.4.5).
    static func bytes(_ name: String, _ comment: String) -> [UInt8] {
        let photo = Fixture.bytes("panoramas/\(name).jpg")
        let text = Array(comment.utf8.prefix(200))
        return Array(photo.prefix(2)) + [0xFF, 0xFE, 0, UInt8(text.count + 2)] + text + Array(photo.dropFirst(2))
    }
}
