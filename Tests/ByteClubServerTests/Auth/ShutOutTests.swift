import ByteClubCore
import Dispatch
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Whoever is out is out", .serialized) struct ShutOutTests {
    /// One way of going out while a request of one kind is open.
    struct Case: Sendable, CustomTestStringConvertible {
        let kind: OpenKind
        let way: WayOut
        var testDescription: String { "\(kind), \(way)" }
    }

    static let cases = OpenKind.allCases.flatMap { kind in kind.ways.map { Case(kind: kind, way: $0) } }

    @Test("an open request ends when its sender is out, and those of others go on", arguments: cases)
    func ends(_ tried: Case) async throws {
        try await TestServer.run { server in
            let ben = try await Leaver(server, tried.kind)
            let request = try await tried.kind.request(server, ben)
            let cursor = try await Self.cursor(server)
            async let other = server.get("/1/sync/changes?wait=480&cursor=\(cursor)")
            try await eventually("another member waits") { server.store.waiterCount == 1 }

            let (steps, step) = AsyncStream<[UInt8]>.makeStream()
            let isOut = DispatchSemaphore(value: 0)
            let (port, form) = (server.port, tried.kind.form)
            async let answer = BackgroundThread.run { () -> [UInt8] in
                defer { step.finish() }
                guard let connection = RawConnection(port: port), connection.send(request) else { return [] }
                if form != .wait { step.yield(connection.receive(atMost: 4096)) }
                _ = isOut.wait(timeout: .now() + 300)
                return connection.receiveAll()
            }
            var begun: [UInt8] = []
            if form == .wait {
                try await eventually("the request waits") { server.store.waiterCount == 2 }
            } else {
                var iterator = steps.makeAsyncIterator()
                begun = try #require(await iterator.next())
                let head = form == .upload ? "HTTP/1.1 100" : "HTTP/1.1 200"
                #expect(String(decoding: begun, as: UTF8.self).hasPrefix(head))
            }
            try await tried.way.take(ben, server)
            if form == .download {
                // Only then does the client take the rest, which would else come whole.
                #expect(await server.log.line { $0.contains("was not sent completely") } != nil)
            }
            isOut.signal()
            let rest = await answer
            switch form {
            case .wait, .upload: #expect(RawMessage(rest)?.status == 401)
            case .download: #expect(begun.count + rest.count < Leaver.content.count)
            }
            try await eventually("one waits still") { server.store.waiterCount == 1 }
            try await server.store("/later.md")
            #expect(try await other.status == 200)
        }
    }

    @Test("a connection goes on after a wait that was ended on it")
    func connection() async throws {
        try await TestServer.run { server in
            let ben = try await Leaver(server, .changes)
            let request = try await OpenKind.changes.request(server, ben, connection: "keep-alive")
            let (port, store) = (server.port, server.store)
            async let statuses = BackgroundThread.run { () -> String in
                guard let connection = RawConnection(port: port) else { return "" }
                connection.send(request)
                let first = connection.receive()
                connection.send(Array("GET /1/account/info HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
                return String(decoding: first + connection.receiveAll(), as: UTF8.self)
            }
            try await eventually("the request waits") { store.waiterCount == 1 }
            try await store.removeMember(name: "Ben")
            let answers = await statuses
            #expect(answers.hasPrefix("HTTP/1.1 401") && answers.contains("access was revoked"))
            #expect(answers.contains("no access token was sent"))
        }
    }

    @Test("a cursor of a member who was removed is good for no long poll, and calls with it count as the member's")
    func cursors() async throws {
        let adjust = { (configuration: inout ClubConfiguration) in
            configuration.settings.longpollMinimum = 0
            configuration.settings.limits = RequestLimits(memberRate: 1)
        }
        try await TestServer.run(adjusting: adjust) { server in
            let ben = try await Leaver(server, .longpoll)
            let mine = try await server.post("/1/delta").decoded(DeltaPage.self).cursor
            let cursor = try await ben.cursor(server)
            func poll(_ cursor: String) async throws -> Int {
                try await server.send("GET /1/longpoll_delta?timeout=0&cursor=\(cursor)", []).status
            }
            #expect(try await poll(mine) == 200)
            var statuses: Set<Int> = []
            for _ in 0..<40 { statuses.insert(try await poll(cursor)) }
            #expect(statuses == [200, 429])
            #expect(try await poll(mine) == 200)
            try await server.store.removeMember(name: "Ben")
            try await eventually("a member who is gone is told so") { try await poll(cursor) == 401 }
        }
    }

    fileprivate static func cursor(_ server: TestServer) async throws -> String {
        let frame = try #require(SyncFrame(try await server.get("/1/sync/changes").body))
        return try JSONReader.read(SyncPage.self, from: frame.head).cursor
    }
}

/// A member who is to go, with all that lets them in.
struct Leaver: Sendable {
    /// A file that no connection takes at once.
    static let content = noise(12 << 20)

    let member: NewMember
    let session: String
    /// A link of the kind that a request is for.
    let link: Link?
    let file: FolderEntry?

    var bearer: String { "Authorization: Bearer \(member.token)" }
    var cookie: String { "Cookie: byteclub=\(session)" }

    /// Adds Ben, with what a kind of request needs.
    init(_ server: TestServer, _ kind: OpenKind) async throws {
        let store = server.store
        member = try await store.addMember(name: "Ben", role: .editor, oauth1: true)
        session = try await store.addWebSession(member: member.uid, lifetime: 86_400)
        let path = kind == .original ? "/byteclub/photos/big.jpg" : "/byteclub/big.bin"
        file = kind.form == .download ? try await StoreFixture.put(store, path, Self.content) : nil
        if let purpose = kind.purpose, let file {
            link = try await store.link(purpose, to: file, by: member.uid, lifetime: nil)
        } else {
            link = nil
        }
    }

    /// A cursor of Core API v1.
    func cursor(_ server: TestServer) async throws -> String {
        let form = "Content-Type: application/x-www-form-urlencoded"
        return try await server.send("POST /1/delta", [bearer, form]).decoded(DeltaPage.self).cursor
    }
}

/// A request that stays open.
enum OpenKind: CaseIterable, Sendable {
    case longpoll, changes, signedChanges, history, events
    case download, original, sharedDownload, linkedDownload
    case upload, chunk, pageUpload

    /// What is open about it.
    enum Form { case wait, download, upload }

    var form: Form {
        switch self {
        case .longpoll, .changes, .signedChanges, .history, .events: .wait
        case .download, .original, .sharedDownload, .linkedDownload: .download
        case .upload, .chunk, .pageUpload: .upload
        }
    }

    /// The kind of link that it needs.
    var purpose: Link.Purpose? {
        switch self {
        case .sharedDownload: .share
        case .linkedDownload: .media
        default: nil
        }
    }

    /// How its sender can go out.
    var ways: [WayOut] {
        let ways: [WayOut] =
            switch self {
            case .longpoll: []
            case .signedChanges: [.appRemoved, .passwordChanged]
            case .changes, .history, .download, .upload, .chunk: [.deviceRevoked, .tokenDisabled, .passwordChanged]
            case .events, .original, .pageUpload: [.signedOut, .passwordChanged]
            case .sharedDownload: [.linkTakenBack, .demoted]
            case .linkedDownload: [.linkTakenBack]
            }
        return [.removed, .removedElsewhere] + ways
    }

    /// The request as it goes on the wire; of an upload what comes before its body.
    func request(_ server: TestServer, _ ben: Leaver, connection: String = "close") async throws -> [UInt8] {
        let last = try await server.store.read { try $0.state.lastRevision() }
        let secret = ben.link?.secret ?? ""
        let body = ["Content-Length: 1000", "Expect: 100-continue"]
        let (line, fields): (String, [String])
        switch self {
        case .longpoll:
            (line, fields) = ("GET /1/longpoll_delta?timeout=480&cursor=\(try await ben.cursor(server))", [])
        case .changes:
            let cursor = try await ShutOutTests.cursor(server)
            (line, fields) = ("GET /1/sync/changes?wait=480&cursor=\(cursor)", [ben.bearer])
        case .signedChanges:
            let cursor = try await ShutOutTests.cursor(server)
            let keys = try #require(ben.member.oauth1)
            let signed =
                "oauth_consumer_key=\(keys.consumerKey)&oauth_token=\(keys.token)&oauth_signature_method=PLAINTEXT"
                + "&oauth_signature=\(keys.consumerSecret)%26\(keys.tokenSecret)"
            (line, fields) = ("GET /1/sync/changes?wait=480&cursor=\(cursor)&\(signed)", [])
        case .history: (line, fields) = ("GET /1/sync/history?wait=480&after=\(last)", [ben.bearer])
        case .events: (line, fields) = ("GET /gallery/events?after=\(last)", [ben.cookie])
        case .download: (line, fields) = ("GET /1/files/auto/byteclub/big.bin", [ben.bearer])
        case .original:
            let hash = try #require(ben.file?.contentHash)
            (line, fields) = ("GET /photos/\(hash)/original.jpg", [ben.cookie])
        case .sharedDownload: (line, fields) = ("GET /s/\(secret)/big.bin?dl=1", [])
        case .linkedDownload: (line, fields) = ("GET /1/view/\(secret)/big.bin", [])
        case .upload: (line, fields) = ("PUT /1/files_put/auto/up.bin", [ben.bearer] + body)
        case .chunk: (line, fields) = ("PUT /1/chunked_upload", [ben.bearer] + body)
        case .pageUpload:
            let type = "Content-Type: multipart/form-data; boundary=x"
            (line, fields) = ("POST /gallery/upload", [ben.cookie, type] + body)
        }
        let head = ["\(line) HTTP/1.1", "Host: 127.0.0.1:\(server.port)", "Connection: \(connection)"] + fields
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}

/// A way of going out.
enum WayOut: Sendable {
    case removed, removedElsewhere, deviceRevoked, tokenDisabled, passwordChanged, appRemoved, signedOut
    case linkTakenBack, demoted

    /// Has Ben go out.
    func take(_ ben: Leaver, _ server: TestServer) async throws {
        let (store, uid) = (server.store, ben.member.uid)
        switch self {
        case .removed: try await store.removeMember(name: "Ben")
        case .removedElsewhere:
            let beside = try SQLiteStore(
                directory: server.directory, mode: .administration, now: store.now, logger: store.logger)
            try await beside.removeMember(name: "Ben")
            try beside.close()
        case .deviceRevoked:
            let device = try #require(await store.devices(of: uid).first { $0.title == "Token from the server" })
            #expect(try await store.removeDevice(device.id, of: uid))
        case .tokenDisabled:
            #expect(try await server.send("POST /1/disable_access_token", [ben.bearer]).status == 200)
        case .passwordChanged:
            let hash = try await PasswordHash.make("another password")
            try await store.setPassword(hash, ofMember: "Ben", shuttingOutDevices: true)
        case .appRemoved:
            let key = try #require(ben.member.oauth1?.consumerKey)
            #expect(try await store.removeApp(key: key))
        case .signedOut: try await store.removeWebSession(ben.session)
        case .linkTakenBack:
            let member = try #require(await store.members().first { $0.uid == uid })
            #expect(try await store.removeLink(#require(ben.link).id, for: member))
        case .demoted: try await store.setRole(.viewer, ofMember: "Ben")
        }
    }
}
