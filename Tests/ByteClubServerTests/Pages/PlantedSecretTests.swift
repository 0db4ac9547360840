import ByteClubCore
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Secrets of pages") struct PlantedSecretTests {
    /// Says which policy an answer lacks; nil for none.
    private static func missingPolicy(_ answer: RawMessage) -> String? {
        guard answer["Content-Type"]?.lowercased().hasPrefix("text/html") == true else { return nil }
        let policy = answer["Content-Security-Policy"] ?? ""
        for part in [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'", "frame-ancestors 'none'",
        ] where !policy.contains(part) { return part }
        if policy.contains("unsafe") || policy.contains("http") || policy.contains("*") { return "a strict policy" }
        if answer["Referrer-Policy"] != "no-referrer" { return "Referrer-Policy" }
        return answer["Cache-Control"] == "no-store" ? nil : "Cache-Control"
    }

    @Test(
        "no page tells another one's cookie, token, password or link, and no log and no metric tells any",
        arguments: LogFormat.allCases)
    func planted(format: LogFormat) async throws {
        try await TestServer.run(
            adjusting: {
                PageScene.adjust(&$0)
                $0.logFormat = format
            }
        ) { server in
            let scene = try await PageScene(server)
            let callers: [PageScene.Caller] = [.nobody, .expired, .guest, .viewer, .editor]
            // Whose secret each is; nil for one that nobody may see on these pages.
            var secrets: [(text: String, owner: PageScene.Caller?)] = [
                (PageScene.password, nil), ("another long one", nil), (server.member.token, nil), (scene.secret, nil),
            ]
            for (caller, visitor) in scene.visitors {
                secrets.append((visitor.token, caller))
                let cookie = visitor.fields.first { $0.hasPrefix("Cookie: byteclub=") }
                if let value = cookie?.dropFirst("Cookie: byteclub=".count), value.count == 64 {
                    secrets.append((String(value), caller))
                }
            }
            var links: [String] = []
            for line in PageLine.all where line.endpoint != "/logout" && line.endpoint != "/leave" {
                for caller in callers {
                    let visitor = try #require(scene.visitors[caller])
                    scene.isUsed = caller == .editor
                    let ends = line.traits.contains(.endsSession)
                    let form = try await line.form(scene, visitor)
                    if ["/invite", "/reset"].contains(line.endpoint), let last = form.target.split(separator: "/").last
                    {
                        if last.count > 20 { links.append(String(last)) }
                    }
                    for token in ends ? [nil] : [visitor.token, nil] {
                        let answer =
                            line.method == .get
                            ? try await scene.get(form, as: visitor)
                            : try await scene.post(form, as: visitor, token: token)
                        let told =
                            answer.start + answer.fields.map { "\($0.name): \($0.value)\n" }.joined() + answer.text
                        let name = "\(line.method) \(form.target) by \(caller)"
                        for secret in secrets where secret.owner != caller && told.contains(secret.text) {
                            // Those who make a link are shown it.
                            let isMade = secret.text == scene.secret && caller == .editor
                            #expect(
                                isMade, "\(name) tells \(secret.owner.map { "\($0)'s" } ?? "a secret"): \(secret.text)")
                        }
                        #expect(Self.missingPolicy(answer) == nil, "\(name) has no \(Self.missingPolicy(answer) ?? "")")
                    }
                }
            }
            // What people type into addresses by mistake.
            let owner = try #require(scene.visitors[.owner])
            for target in [
                "/gallery?csrf=\(owner.token)", "/nowhere/\(scene.secret)", "/gallery/\(scene.secret)?x=\(owner.token)",
                "/photo/delete/a.jpg?csrf=\(owner.token)",
                "/login?password=\(PercentEncoding.encode(PageScene.password))",
                "/gallery/upload/piece?id=\(scene.secret)", "/s/\(scene.secret)/x?password=\(owner.token)",
                "/invite/\(owner.token)/x", "/assets/\(owner.token)/style.css",
            ] {
                let answer = try await server.send(
                    "GET \(target)", ["Accept: text/html", "Referer: http://x\(target)"])
                #expect(answer.status < 500 && answer["Location"]?.contains(PageScene.password) != true)
            }
            let count = server.log.all.count
            _ = try await server.get("/1/account/info")
            let lines = try await server.log.lines(atLeast: count + 1)
            let all = secrets.map(\.text) + links + [PercentEncoding.encode(PageScene.password)]
            for line in lines {
                for secret in all where line.contains(secret) { Issue.record("the log tells \(secret): \(line)") }
            }
            #expect(links.count > 4)
            let metrics = await server.club.monitor.metrics()
            for secret in all { #expect(!metrics.contains(secret)) }
        }
    }
}
