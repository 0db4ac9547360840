import Glibc
import HTTPTypes

@testable import ByteClubHTTP

extension Worker {
    /// A path, now and then behind a door that asks for a credential.
    mutating func guarded(_ path: String) -> String {
        random.one(in: 5) ? "/door/\(random.pick(Door.Kind.allCases).rawValue)\(path)" : path
    }

    /// Knocks at one door several times at once, so that most tasks wait for one question.
    mutating func knockTogether() async {
        let file = anyFile
        let path = "/door/\(random.pick(Door.Kind.allCases).rawValue)/file/\(file)"
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Int.random(in: 3...8, using: &random) {
                var other = self
                other.random = random.split()
                group.addTask { await other.knock(path, file) }
            }
        }
    }

    private mutating func knock(_ path: String, _ file: Int) async {
        var request = request(.get, path)
        request.headerFields[.authorization] = nil
        guard random.one(in: 3) else {
            await perform("knock", session.dataTask(request, options: options()), file: file)
            return
        }
        let target = world.newPath("knock")
        defer { unlink(target) }
        let result = await perform("knock", session.downloadTask(request, to: target, options: options()), file: file)
        if case .success(let result) = result, let written = result.file { check(written, file, result) }
    }

    /// Visits the origins by their names below one public suffix, through the session's proxy if it has one.
    ///
    /// A cookie that one site sets for the suffix must not arrive at the other.
    mutating func visitNeighbours() async {
        // What signs requests would sign those for the other origin, too.
        let isAdapted = session.inbox.configuration.policy.changesRequests
        let others = world.origins.filter { $0.name != home.name }
        for origin in [home] + (isAdapted ? [] : others) + [home] {
            let file = anyFile
            var request = HTTPRequest(
                method: .get, scheme: "http", authority: origin.neighbour, path: guarded("/file/\(file)"))
            if origin.name != home.name {
                request.headerFields[.clubKey] = ""
                if random.one(in: 2) { request.headerFields[.authorization] = "" }
            }
            // The session's own field is for home alone.
            let isOurs = session.inbox.configuration.additionalHeaders[.authorization] == nil
            if origin.name != home.name, !isOurs { request.headerFields[.authorization] = "" }
            await perform("neighbour", session.dataTask(request, options: options()), file: file)
        }
        guard let cookies = session.inbox.configuration.cookieStore?.cookies else { return }
        if World.knowsSuffixes, cookies.contains(where: { $0.domain == "co.uk" }) {
            world.ledger.violation("a cookie for a public suffix was kept")
        }
        if cookies.contains(where: { $0.domain.hasPrefix("soak-") }) { world.ledger.outcome("cookies", "of a site") }
    }

    /// Asks the proxy for a tunnel, in which there is no server.
    mutating func goThroughTunnel() async {
        guard case .server = session.inbox.configuration.proxy else { return }
        let request = HTTPRequest(method: .get, scheme: "https", authority: home.neighbour, path: "/file/2")
        let result = await perform("tunnel", session.dataTask(request, options: options()), file: nil)
        if case .success(let result) = result, result.source == .network {
            world.ledger.violation("a tunnel without a server answered \(result.response.status.code)")
        }
    }
}
