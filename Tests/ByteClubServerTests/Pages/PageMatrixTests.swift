import ByteClubCore
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubServer

/// Every page and every form, everybody who might ask for it, and every way in which a form may have come.
@Suite("The authorization of pages") struct PageMatrixTests {
    /// The way in which a form comes.
    private enum Way: CaseIterable {
        /// From the visitor's own page.
        case own
        /// Without a token.
        case bare
        /// With the token of another member.
        case others
        /// With the right token, and the browser says that another site has sent it.
        case crossSite
        /// With the right token, and the browser says that a page of a neighbouring site has sent it.
        case sameSite

        var headers: [String] {
            switch self {
            case .own: ["Origin: http://127.0.0.1", "Sec-Fetch-Site: same-origin"]
            case .bare, .others: []
            case .crossSite: ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site"]
            case .sameSite: ["Origin: https://sub.example", "Sec-Fetch-Site: same-site"]
            }
        }
    }

    @Test("each page and each form has a line in the matrix")
    func complete() {
        for endpoint in Endpoint.all where endpoint.isPage {
            for method in endpoint.methods {
                let isThere = PageLine.all.contains { $0.endpoint == endpoint.name && $0.method == method }
                #expect(isThere, "no line for \(method) \(endpoint.name): add one to PageLine.all")
            }
        }
        for line in PageLine.all {
            #expect(Self.endpoint(of: line) != nil, "\(line.method) \(line.endpoint) is no page any more")
        }
    }

    @Test("each page is for those whose role is enough, each form only from a page of their own; nothing else changes")
    func matrix() async throws {
        try await TestServer.run(adjusting: PageScene.adjust) { server in
            let scene = try await PageScene(server)
            var calls = 0
            for line in PageLine.all {
                for caller in PageScene.Caller.allCases {
                    // Whose token a form has does not matter for those who are nobody.
                    let ways = caller.role == nil ? [.own, .bare] : Way.allCases
                    for way in line.method == .get ? [.own] : ways {
                        try await Self.check(line, by: caller, way, scene)
                        calls += 1
                    }
                }
            }
            print("page matrix: \(calls) calls of \(PageLine.all.count) lines")
        }
    }

    @Test("no page answers another method, and changes nothing by one")
    func otherMethods() async throws {
        try await TestServer.run(adjusting: PageScene.adjust) { server in
            let scene = try await PageScene(server)
            let owner = try #require(scene.visitors[.owner])
            for line in PageLine.all {
                scene.isUsed = false
                let form = try await line.form(scene, owner)
                let known = Endpoint.all.filter { $0.name == line.endpoint }.flatMap(\.methods)
                for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"] {
                    if known.contains(where: { $0.rawValue == method }) { continue }
                    let before = try await scene.state()
                    let answer = try await server.send("\(method) \(form.target)", owner.fields, body: [])
                    #expect(answer.status == 405 && answer["Allow"] != nil, "\(method) \(form.target)")
                    #expect(try await scene.state() == before, "\(method) \(form.target)")
                }
            }
        }
    }

    private static func endpoint(of line: PageLine) -> Endpoint? {
        Endpoint.all.first { $0.isPage && $0.name == line.endpoint && $0.methods.contains(line.method) }
    }

    private static func check(
        _ line: PageLine, by caller: PageScene.Caller, _ way: Way, _ scene: PageScene
    ) async throws {
        let endpoint = try #require(Self.endpoint(of: line))
        let (expected, isDone) = Self.expected(line, endpoint, caller, way)
        // Only what succeeds needs a note of its own, or a member who may be signed out.
        scene.isUsed = isDone
        let isOwn = isDone && line.traits.contains(.endsSession)
        let visitor = isOwn ? try await scene.visitor(caller) : try #require(scene.visitors[caller])
        let other = try #require(scene.visitors[caller == .editor ? .owner : .editor])
        let form = try await line.form(scene, visitor)
        let before = try await scene.state()
        let token = way == .bare ? nil : way == .others ? other.token : visitor.token
        let answer =
            line.method == .get
            ? try await scene.get(form, as: visitor)
            : try await scene.post(form, as: visitor, token: token, way.headers)
        let name = "\(line.method) \(form.target) by \(caller), \(way)"
        #expect(answer.status == expected, "\(name): \(answer.start) \(answer.text.suffix(1500).prefix(700))")
        let after = try await scene.state()
        if line.method == .post, isDone, !line.traits.contains(.changesNothing) {
            #expect(after != before, "\(name): does the form do anything?")
        } else {
            #expect(after == before, "\(name) changed something")
        }
        if isDone { return }
        if answer.status == 303 {
            let place = line.method == .get ? PercentEncoding.encode(form.target) : "%2F"
            #expect(answer["Location"] == "/login?next=\(place)" && answer.body.isEmpty, "\(name)")
        }
        #expect(!answer.text.contains(PageScene.kept), "\(name)")
        #expect(answer.fields.allSatisfy { !$0.value.contains("byteclub=") || $0.value.contains("HttpOnly") })
    }

    /// The status of an answer, and whether the call is one that does what it asks for.
    private static func expected(
        _ line: PageLine, _ endpoint: Endpoint, _ caller: PageScene.Caller, _ way: Way
    ) -> (status: Int, isDone: Bool) {
        let isPost = line.method == .post
        let isFromPage = !isPost || (way == .own && caller.hasForm)
        // The handler of an upload looks for the token in what it reads.
        let readsItself = isPost && endpoint.cost.body != .form
        if !isFromPage, !readsItself {
            // Text is not lost, and neither is it saved.
            return (403, false)
        }
        guard let needed = line.role else { return (line.status, true) }
        guard let role = caller.role else { return (line.traits.contains(.keepsText) ? 403 : 303, false) }
        guard role >= needed, isFromPage else { return (403, false) }
        return (line.status, true)
    }
}
