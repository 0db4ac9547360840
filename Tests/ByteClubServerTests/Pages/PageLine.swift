import ByteClubCore
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubServer

/// A line of the matrix: a form or an address of an endpoint, who may use it, and what comes of it.
struct PageLine {
    /// How lines of one kind differ from others.
    enum Trait {
        /// It ends the session, or counts attempts, so that each call has a member of its own.
        case endsSession
        /// It is a form that changes nothing.
        case changesNothing
        /// A browser without a session gets its text back.
        case keepsText
    }

    let method: HTTPRequest.Method
    let endpoint: String
    /// The least role; nil for everybody.
    let role: Role?
    /// The status for those who may.
    let status: Int
    let traits: Set<Trait>
    let form: @Sendable (PageScene, PageScene.Visitor) async throws -> PageScene.Form

    private init(
        _ method: HTTPRequest.Method, _ endpoint: String, _ role: Role?, _ status: Int, _ traits: Set<Trait>,
        _ form: @escaping @Sendable (PageScene, PageScene.Visitor) async throws -> PageScene.Form
    ) {
        (self.method, self.endpoint, self.role, self.status, self.traits) = (method, endpoint, role, status, traits)
        self.form = form
    }

    private static func get(_ endpoint: String, _ role: Role?, _ target: String? = nil, status: Int = 200) -> PageLine {
        PageLine(.get, endpoint, role, status, []) { _, _ in PageScene.Form(target: target ?? endpoint) }
    }

    private static func post(
        _ endpoint: String, _ role: Role?, _ status: Int, _ traits: Set<Trait> = [], to target: String? = nil,
        _ fields: @escaping @Sendable (PageScene, PageScene.Visitor) async throws -> [(String, String)]
    ) -> PageLine {
        PageLine(.post, endpoint, role, status, traits) { scene, visitor in
            PageScene.Form(target: target ?? endpoint, body: .fields(try await fields(scene, visitor)))
        }
    }

    /// A form whose address names a photo.
    private static func photo(
        _ action: String, _ status: Int, _ fields: @escaping @Sendable (String) -> [(String, String)] = { _ in [] }
    ) -> PageLine {
        PageLine(.post, "/photo", .editor, status, []) { scene, _ in
            let photo = try await scene.photo()
            return PageScene.Form(target: "/photo/\(action)\(photo.path)", body: .fields(fields(photo.rev)))
        }
    }

    private static func note(
        _ endpoint: String, _ status: Int, _ traits: Set<Trait> = [], isDeleted: Bool = false,
        fields: [(String, String)] = []
    ) -> PageLine {
        post(endpoint, .editor, status, traits) { scene, _ in
            let note = try await scene.note()
            if isDeleted { try await scene.delete(note.path) }
            return [("path", note.path), ("rev", note.rev)] + fields
        }
    }

    /// Everything that pages answer.
    static let all: [PageLine] = [
        // Signing in and joining: everybody.
        get("/login", nil),
        post("/login", nil, 303) { scene, _ in
            [("name", try await scene.add(.viewer).name), ("password", PageScene.password)]
        },
        PageLine(.get, "/invite", nil, 200, []) { scene, _ in
            let store = scene.server.store
            let secret = try await store.addInvitation(role: .viewer, lifetime: 3600, by: scene.server.member.uid)
            return PageScene.Form(target: "/invite/\(secret)")
        },
        PageLine(.post, "/invite", nil, 303, []) { scene, _ in
            let store = scene.server.store
            let secret = try await store.addInvitation(role: .viewer, lifetime: 3600, by: scene.server.member.uid)
            return PageScene.Form(
                target: "/invite/\(secret)",
                body: .fields([("name", "Guest \(scene.next())"), ("password", PageScene.password)]))
        },
        get("/invite", nil, "/invite/none", status: 404),
        PageLine(.get, "/reset", nil, 200, []) { scene, _ in try await reset(scene) },
        PageLine(.post, "/reset", nil, 303, []) { scene, _ in try await reset(scene) },
        get("/reset", nil, "/reset/none", status: 404),
        post("/logout", .viewer, 303, [.endsSession]) { _, _ in [] },

        // Looking.
        get("/", .viewer), get("/gallery", .viewer), get("/gallery", .viewer, "/gallery/byteclub/kept.md"),
        PageLine(.get, "/gallery", .viewer, 200, []) { scene, _ in
            PageScene.Form(target: "/gallery" + (try await scene.photo().path))
        },
        get("/gallery/events", .viewer, "/gallery/events?after=0"), get("/gallery/index", .viewer),
        get("/gallery/items", .viewer), get("/albums", .viewer),
        get("/notes", .viewer), get("/notes/history", .viewer, "/notes/history/byteclub/kept.md"),
        get("/account", .viewer), get("/password", .viewer), get("/members", .owner),

        // Adding.
        get("/add", .editor), get("/notes/new", .editor),
        PageLine(.post, "/gallery/upload", .editor, 303, []) { scene, _ in
            PageScene.Form(target: "/gallery/upload", body: .files([("f\(scene.next()).md", Array("x".utf8))]))
        },
        PageLine(.post, "/gallery/upload/piece", .editor, 200, []) { _, _ in
            PageScene.Form(target: "/gallery/upload/piece?offset=0", body: .piece([1, 2, 3]))
        },
        post("/gallery/upload/commit", .editor, 200) { scene, visitor in
            [("id", try await scene.upload(by: visitor)), ("name", "c\(scene.next()).md")]
        },
        post("/gallery/upload/known", .editor, 200, [.changesNothing]) { _, _ in
            [("hashes", "\(ContentHasher.hash(Fixture.bytes("panoramas/dated.jpg")))")]
        },
        post("/notes/new", .editor, 303, [.keepsText]) { scene, _ in [("name", "new \(scene.next())"), ("text", "x")] },
        post("/notes/preview", .editor, 200, [.changesNothing, .keepsText]) { _, _ in
            [("path", "/byteclub/kept.md"), ("text", "# x")]
        },

        get("/notes/presence", .viewer, "/notes/presence?path=/byteclub/kept.md"),
        post("/notes/presence", .editor, 200, [.changesNothing]) { _, _ in
            [("path", "/byteclub/kept.md"), ("editing", "1")]
        },

        // Changing.
        PageLine(.post, "/gallery", .editor, 303, [.keepsText]) { scene, _ in
            let note = try await scene.note()
            return PageScene.Form(
                target: "/gallery" + note.path,
                body: .fields([("text", "changed \(scene.next())"), ("parent_rev", note.rev)]))
        },
        PageLine(.post, "/gallery", .editor, 303, [.keepsText]) { scene, _ in
            scene.isUsed = true
            return PageScene.Form(
                target: "/gallery" + (try await scene.photo().path), body: .fields([("text", "A caption")]))
        },
        note("/notes/task", 303, fields: [("line", "2")]), note("/notes/delete", 303),
        post("/notes/move", .editor, 303) { scene, _ in
            let note = try await scene.note()
            return [("path", note.path), ("rev", note.rev), ("to", "moved \(scene.next())")]
        },
        note("/notes/restore", 303, isDeleted: true),
        photo("delete", 303) { [("rev", $0)] }, photo("view", 303) { _ in [("view", "sphere")] },
        PageLine(.post, "/photo", .editor, 303, []) { scene, _ in
            let path = try await scene.photo().path
            return PageScene.Form(target: "/photo/move\(path)", body: .fields([("name", "moved \(scene.next())")]))
        },
        PageLine(.post, "/photo", .editor, 303, []) { scene, _ in
            scene.isUsed = true
            let path = try await scene.photo().path
            try await scene.delete(path)
            return PageScene.Form(target: "/photo/restore\(path)")
        },
        photo("share", 200), photo("share", 200) { _ in [("location", "keep"), ("days", "1")] },
        photo("spot", 303) { _ in [("yaw", "1"), ("pitch", "2"), ("target", "../kept.md")] },

        PageLine(.post, "/share", .editor, 200, []) { scene, _ in
            scene.isUsed = true
            return PageScene.Form(target: "/share" + (try await scene.note().path))
        },
        PageLine(.post, "/share", .editor, 200, []) { scene, _ in
            let path = "/byteclub/album \(scene.next())/a.md"
            try await scene.server.store(path.replacing(" ", with: "%20"))
            return PageScene.Form(
                target: "/share/byteclub/" + (path.split(separator: "/")[1]).replacing(" ", with: "%20"))
        },
        post("/notes/story", .editor, 303) { scene, _ in
            [("title", "Story \(scene.next())"), ("photos", try await scene.photo().path)]
        },

        // What was done, and undoing it.
        get("/activity", .viewer), get("/activity/restore", .viewer, "/activity/restore?at=1"),
        post("/activity/restore", .editor, 200) { scene, _ in
            let before = try await scene.server.store.read { try $0.state.lastRevision() }
            let folder = "/byteclub/undone-\(scene.next())"
            try await scene.server.store(folder + "/a.md")
            return [("at", "\(before)"), ("in", folder), ("seen", "\(Int64.max)")]
        },

        // One's own account.
        post("/welcome", .viewer, 303, [.changesNothing]) { _, _ in [] },
        post("/leave", .viewer, 200, [.endsSession]) { _, _ in [] },
        post("/revoke", .viewer, 303) { scene, visitor in
            let uid = visitor.member?.uid ?? scene.server.member.uid
            _ = try await scene.server.store.addDevice(member: uid, app: "byteclub", name: "attic")
            return [("device", "\(try #require(try await scene.server.store.devices(of: uid).first).id)")]
        },
        post("/links/revoke", .viewer, 303) { scene, visitor in
            let store = scene.server.store
            let entry = try await store.read { try $0.file(RemotePath("/byteclub/kept.md"), revision: nil) }
            let uid = visitor.member?.uid ?? scene.server.member.uid
            return [("link", "\(try await store.link(.media, to: entry, by: uid, Link.Terms()).id)")]
        },
        post("/password", .viewer, 303, [.endsSession]) { _, _ in
            [("password", PageScene.password), ("new", "another long one")]
        },

        // Members and programs.
        post("/members", .owner, 303) { scene, _ in [("action", "name"), ("club", "Club \(scene.next())")] },
        post("/members", .owner, 303) { scene, _ in
            [("action", "remove"), ("name", try await scene.add(.editor).name)]
        },
        post("/members", .owner, 303) { scene, _ in
            [("action", "role"), ("name", try await scene.add(.viewer).name), ("role", "owner")]
        },
        get("/oauth2/authorize", .viewer, "/oauth2/authorize?\(consent)"),
        post("/oauth2/authorize", .viewer, 200, to: "/oauth2/authorize?\(consent)") { _, _ in
            [("decision", "allow")]
        },
        get("/device", .viewer),
        post("/device", .viewer, 200) { scene, _ in
            [("code", try await scene.userCode()), ("decision", "allow")]
        },
        PageLine(.get, "/oauth/authorize", .viewer, 200, []) { scene, _ in
            PageScene.Form(target: "/oauth/authorize?oauth_token=\(try await requestToken(scene))")
        },
        PageLine(.post, "/oauth/authorize", .viewer, 200, []) { scene, _ in
            PageScene.Form(
                target: "/oauth/authorize?oauth_token=\(try await requestToken(scene))",
                body: .fields([("decision", "allow")]))
        },
    ]

    private static let consent =
        "response_type=code&client_id=byteclub&code_challenge_method=S256&device=laptop"
        + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    private static func reset(_ scene: PageScene) async throws -> PageScene.Form {
        let store = scene.server.store
        let member = try await scene.add(.viewer)
        let known = try await store.credentials(ofMember: member.name)?.password
        let reset = PasswordReset(member: member.uid, maker: nil, expires: SystemTime.seconds() + 3600)
        return PageScene.Form(
            target: "/reset/\(reset.secret(replacing: known, key: store.signingKey))",
            body: .fields([("new", "another long one")]))
    }

    private static func requestToken(_ scene: PageScene) async throws -> String {
        let app = try #require(scene.server.member.oauth1)
        let signed = "oauth_consumer_key=\(app.consumerKey)&oauth_signature_method=PLAINTEXT"
        let answer = try await scene.server.send(
            "POST /1/oauth/request_token?\(signed)&oauth_signature=\(app.consumerSecret)%26", [])
        return String(try #require(answer.text.firstMatch(of: /oauth_token=([^&]+)/)).1)
    }
}
