import ByteClubCore
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import ByteClubServer

/// A club with everybody who may ask for a page, and what their forms are about.
final class PageScene {
    /// Who asks.
    enum Caller: String, CaseIterable {
        /// A browser without a session.
        case nobody
        /// The cookie of a member who was removed.
        case removed
        /// The cookie of a session that is over.
        case expired
        /// A cookie as long as a session's that nobody made.
        case garbage
        /// A cookie that cannot be a session.
        case short
        /// An owner's token, which is for programs.
        case bearer
        /// The secret of a share link, in every place where one could try it.
        case guest
        case viewer, editor, owner

        /// The role of a member with a session.
        var role: Role? {
            switch self {
            case .viewer: .viewer
            case .editor: .editor
            case .owner: .owner
            default: nil
            }
        }

        /// Whether the page of such a browser has a form that it may send.
        var hasForm: Bool { ![.short, .bearer, .guest].contains(self) }
    }

    /// A browser, or what passes itself off as one.
    struct Visitor {
        let caller: Caller
        /// The headers that say who asks.
        let fields: [String]
        /// The token of the forms on its pages.
        let token: String
        /// The member; nil for nobody.
        var member: Member?
    }

    /// What a visitor sends.
    struct Form {
        enum Body {
            case fields([(String, String)])
            case files([(name: String, bytes: [UInt8])])
            case piece([UInt8])
        }

        let target: String
        var body = Body.fields([])
    }

    /// A text in every note, which none but members may read.
    static let kept = "Kept-words-of-members"
    static let password = "seven by the car park"

    let server: TestServer
    /// The secret of a shared link.
    let secret: String
    /// Whether what the next form is about is used up by it.
    var isUsed = false
    private(set) var visitors: [Caller: Visitor] = [:]
    private let hash: PasswordHash
    private var number = 0
    private var spareNote: (path: String, rev: String)?
    private var sparePhoto: (path: String, rev: String)?
    private var spareCode: String?

    /// The settings of a server whose limits the calls of one address do not reach.
    static func adjust(_ configuration: inout ClubConfiguration) {
        configuration.settings.limits = RequestLimits(memberRate: 0, attemptRate: 0, anonymousRate: 0)
        let (start, turns) = (ContinuousClock.now, Hours())
        configuration.settings.signIns = SignInLimits(pause: .zero) { start + turns.next() }
    }

    /// Time that passes between two attempts.
    private final class Hours: Sendable {
        private let count = Mutex(0)
        func next() -> Duration {
            .seconds(
                3600
                    * count.withLock { count in
                        count += 1; return count
                    })
        }
    }

    init(_ server: TestServer) async throws {
        self.server = server
        hash = try await PasswordHash.make(Self.password)
        try await server.store.setPassword(hash, ofMember: "Ann Bell")
        try await server.store("/byteclub/kept.md", Self.kept)
        let url = try await server.post("/1/shares/auto/byteclub/kept.md").text("url")
        secret = String(url.split(separator: "/")[3])
        for caller in Caller.allCases { visitors[caller] = try await visitor(caller) }
    }

    /// A visitor of a kind; a member is a new one.
    func visitor(_ caller: Caller) async throws -> Visitor {
        switch caller {
        case .nobody:
            let page = try await server.send("GET /login", [])
            let cookie = try #require(page["Set-Cookie"]).prefix { $0 != ";" }
            return try await visitor(caller, ["Cookie: \(cookie)"])
        case .removed:
            let member = try await add(.owner)
            let session = try await server.store.addWebSession(member: member.uid, lifetime: 3600)
            try await server.store.removeMember(name: member.name)
            return try await visitor(caller, ["Cookie: byteclub=\(session)"])
        case .expired:
            let session = try await server.store.addWebSession(member: server.member.uid, lifetime: 0)
            return try await visitor(caller, ["Cookie: byteclub=\(session)"])
        case .garbage: return try await visitor(caller, ["Cookie: byteclub=\(String(repeating: "f", count: 64))"])
        case .short: return try await visitor(caller, ["Cookie: byteclub=x; byteclub="])
        case .bearer: return try await visitor(caller, [server.bearer])
        case .guest:
            return try await visitor(
                caller, ["Cookie: byteclub=\(secret); byteclub-share=\(secret)", "Authorization: Bearer \(secret)"])
        case .viewer, .editor, .owner:
            let member = try await add(caller.role ?? .viewer)
            let session = try #require(
                try await server.store.addWebSession(member: member.uid, password: hash, lifetime: 3600))
            return try await visitor(caller, ["Cookie: byteclub=\(session)"], member)
        }
    }

    private func visitor(_ caller: Caller, _ fields: [String], _ member: Member? = nil) async throws -> Visitor {
        let page = try await server.send("GET /login", fields).text
        let token = try #require(page.firstMatch(of: /name="csrf" value="([0-9a-f]{64})"/)).1
        return Visitor(caller: caller, fields: fields, token: String(token), member: member)
    }

    /// A new member with the password.
    func add(_ role: Role) async throws -> Member {
        number += 1
        let name = "Member \(number)"
        _ = try await server.store.addMember(name: name, role: role, oauth1: false)
        try await server.store.setPassword(hash, ofMember: name)
        return try #require(try await server.store.credentials(ofMember: name)).member
    }

    /// A number that no other call has got.
    func next() -> Int {
        number += 1
        return number
    }

    // MARK: - What forms are about

    /// A note with its rev.
    func note() async throws -> (path: String, rev: String) {
        if let spareNote, !isUsed { return spareNote }
        let path = "/byteclub/n\(next()).md"
        let rev = try #require(try await server.store(path, "# \(Self.kept)\n\n- [ ] a task\n").rev)
        spareNote = isUsed ? nil : (path, "\(rev)")
        return (path, "\(rev)")
    }

    /// A photo with its rev.
    func photo() async throws -> (path: String, rev: String) {
        if let sparePhoto, !isUsed { return sparePhoto }
        let path = "/byteclub/photos/p\(next()).jpg"
        let answer = try await server.send("PUT /1/files_put/auto\(path)", body: Fixture.bytes("panoramas/dated.jpg"))
        let rev = try #require(try answer.decoded(Metadata.self).rev)
        sparePhoto = isUsed ? nil : (path, "\(rev)")
        return (path, "\(rev)")
    }

    /// The code of a program that waits to be allowed; only so many from one address may wait at a time.
    func userCode() async throws -> String {
        if let spareCode, !isUsed { return spareCode }
        let begun = try await server.send(
            "POST /1/oauth2/device_authorization", ["Content-Type: \(RawRequest.formType)"],
            body: Array("client_id=byteclub&device=x".utf8))
        let code = try begun.text("user_code")
        spareCode = isUsed ? nil : code
        return code
    }

    /// Deletes a file.
    func delete(_ path: String) async throws {
        #expect(try await server.post("/1/fileops/delete", "path=\(path)").status == 200)
        (spareNote, sparePhoto) = (nil, nil)
    }

    /// The number of an upload that is complete: of the visitor who may send one, else of an owner.
    func upload(by visitor: Visitor) async throws -> String {
        let mayWrite = visitor.caller.role.map { $0 >= .editor } ?? false
        let sender = mayWrite ? visitor : try #require(visitors[.owner])
        let piece = Form(target: "/gallery/upload/piece", body: .piece(Array("# \(next())".utf8)))
        return try await post(piece, as: sender, token: sender.token).text("upload_id")
    }

    // MARK: - Asking

    /// All that a page could change: what calls without permission must leave alone.
    func state() async throws -> String {
        let parts = [
            "coalesce((SELECT max(revision) FROM version), 0)", "(SELECT count(*) FROM link)",
            "(SELECT group_concat(hex(hash)) FROM web_session)",
            "(SELECT count(*) || ' ' || total(size) || ' ' || total(completed) FROM upload)",
            "(SELECT count(*) FROM invitation)", "(SELECT count(*) FROM device)",
            "(SELECT count(*) || ' ' || count(member) FROM request_token)", "(SELECT count(*) FROM grant_code)",
            "(SELECT group_concat(name || role || disabled || coalesce(password, '')) FROM member)",
        ]
        let sql = "SELECT " + parts.map { "coalesce(\($0), '')" }.joined(separator: " || '|' || ")
        let row = try await server.store.query { try $0.firstRow(sql, []) { $0[0] as String } }
        return (row ?? "") + "|" + (server.store.clubName ?? "")
    }

    /// Asks for a page.
    func get(_ form: Form, as visitor: Visitor) async throws -> RawMessage {
        try await server.send("GET \(form.target)", visitor.fields)
    }

    /// Sends a form with a token; nil sends none.
    func post(_ form: Form, as visitor: Visitor, token: String?, _ more: [String] = []) async throws -> RawMessage {
        let fields = visitor.fields + more
        switch form.body {
        case .fields(let values):
            let all = (token.map { [("csrf", $0)] } ?? []) + values
            return try await server.send(
                "POST \(form.target)", fields + ["Content-Type: \(RawRequest.formType)"],
                body: Array(PercentEncoding.form(all.map { (name: $0.0, value: $0.1) }).utf8))
        case .files(let files):
            var body: [UInt8] = []
            func part(_ name: String, _ bytes: [UInt8]) {
                body += Array("--xYz\r\nContent-Disposition: form-data; \(name)\r\n\r\n".utf8) + bytes + [13, 10]
            }
            if let token { part("name=\"csrf\"", Array(token.utf8)) }
            for file in files { part("name=\"file\"; filename=\"\(file.name)\"", file.bytes) }
            body += Array("--xYz--\r\n".utf8)
            return try await server.send(
                "POST \(form.target)", fields + ["Content-Type: multipart/form-data; boundary=xYz"], body: body)
        case .piece(let bytes):
            return try await server.send(
                "POST \(form.target)", fields + (token.map { ["X-Form-Token: \($0)"] } ?? []), body: bytes)
        }
    }
}
