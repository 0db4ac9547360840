import Glibc

/// What the proxy makes of a request: it asks for a credential, and has the origin answer, or breaks off.
struct ProxyVisit {
    let proxy: ChaosServer
    let peer: Peer
    let request: RecordedRequest
    var random: Seeded

    init(_ proxy: ChaosServer, _ peer: Peer, _ request: RecordedRequest) {
        self.proxy = proxy
        self.peer = peer
        self.request = request
        random = proxy.decisions().random
    }

    mutating func send(_ origins: [ChaosServer]) -> ChaosServer.Next {
        proxy.ledger.proxyRequest(request)
        if random.one(in: 25) {
            proxy.ledger.fault("proxy broke off")
            return random.one(in: 2) ? .reset : .close
        }
        let objection = proxy.door.objection(to: request, random.pick(Door.Kind.allCases), in: "proxy-authorization")
        if request.method == "CONNECT" { return openTunnel(objection) }
        guard let origin = origins.first(where: { request.target.hasPrefix("http://\($0.neighbour)/") }) else {
            proxy.ledger.violation("the proxy was asked for \(request.target)")
            return .close
        }
        var inner = request
        inner.target = String(request.target.dropFirst("http://\(origin.neighbour)".utf8.count))
        inner.fields.removeAll { $0.name == "proxy-authorization" }
        var answer = ChaosAnswer(origin, peer, inner)
        if let objection { return answer.ask(407, "Proxy-Authenticate", objection) }
        return answer.send()
    }

    /// Opens a tunnel in which there is no server.
    private mutating func openTunnel(_ objection: [String]?) -> ChaosServer.Next {
        if let objection {
            let fields = objection.map { "Proxy-Authenticate: \($0)" }
            return peer.respond(407, "", fields: fields) && !random.one(in: 4) ? .keep : .close
        }
        proxy.ledger.fault("tunnel opened")
        peer.send("HTTP/1.1 200 X\r\n\r\n")
        if random.one(in: 2) { peer.send("no TLS") }
        return random.one(in: 3) ? .reset : .close
    }
}

extension ChaosAnswer {
    /// Asks for a credential, after the body or before it.
    mutating func ask(_ status: Int, _ field: String, _ challenges: [String]) -> ChaosServer.Next {
        let isEarly = hasBody && random.one(in: 6)
        guard isEarly || readBody() != nil else { return .close }
        let body = request.method == "HEAD" || random.one(in: 3) ? "" : "a credential, please"
        guard peer.respond(status, body, fields: challenges.map { "\(field): \($0)" } + cookie) else { return .close }
        if isEarly { return random.one(in: 2) ? .close : .reset }
        return random.one(in: 4) ? .close : .keep
    }
}
