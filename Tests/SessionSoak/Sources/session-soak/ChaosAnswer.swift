import Glibc

/// One request of a chaos server, and what it makes of it.
struct ChaosAnswer {
    let server: ChaosServer
    let peer: Peer
    let request: RecordedRequest
    let path: String
    /// The path behind a door, or the same.
    let inner: String
    private let doorKind: Door.Kind?
    let query: String
    /// The origins whose redirects led here, a letter each.
    let hops: String
    let authorities: [String]
    var random: Seeded

    init(_ server: ChaosServer, _ peer: Peer, _ request: RecordedRequest) {
        self.server = server
        self.peer = peer
        self.request = request
        let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts[0])
        let door = Door.split(path)
        (doorKind, inner) = (door?.kind, door?.inner ?? path)
        query = parts.count > 1 ? String(parts[1]) : ""
        hops = query.hasPrefix("via=") ? String(query.dropFirst(4)) : ""
        (random, authorities) = server.decisions()
    }

    private var isPlainPost: Bool { request.method == "POST" && request["idempotency-key"] == nil }
    var hasBody: Bool { request.contentLength > 0 || request["transfer-encoding"] != nil }

    mutating func send() -> ChaosServer.Next {
        let objection = doorKind.flatMap { server.door.objection(to: request, $0, in: "authorization") }
        server.ledger.request(request, at: server.name, hops: hops, isRefused: objection != nil)
        checkService()
        if request["expect"] != nil { peer.send("HTTP/1.1 100 Continue\r\n\r\n") }
        if hops.isEmpty, random.one(in: 20) { return refuseEarly() }
        if random.one(in: 25) { return breakOff() }
        if let objection { return ask(401, "WWW-Authenticate", objection) }
        if random.one(in: 8) || !hops.isEmpty && random.one(in: 3) { if let next = redirect() { return next } }
        if random.one(in: 14) { return turnAway() }
        if inner.hasPrefix("/file/") { return sendFile() }
        return receive()
    }

    // MARK: - Instead of an answer

    /// Answers before the body came, and may read on or not.
    private mutating func refuseEarly() -> ChaosServer.Next {
        server.ledger.fault("early answer")
        let status = random.pick([413, 403, 401, 404])
        guard status != 401 || !isPlainPost else { return breakOff() }
        peer.respond(status, "no", fields: random.one(in: 2) ? ["Connection: close"] : [])
        if random.one(in: 2) { return random.one(in: 2) ? .close : .reset }
        return readBody() == nil ? .close : .keep
    }

    private mutating func breakOff() -> ChaosServer.Next {
        let kind = Int.random(in: 0..<9, using: &random)
        server.ledger.fault("broken off \(kind)")
        switch kind {
        case 0: return .reset
        case 1: return .close
        case 2:
            if hasBody { _ = peer.skip(Int.random(in: 1...max(request.contentLength, 1), using: &random)) }
            return .reset
        case 3: return stall()
        case 4:
            peer.send("HTTP/1.1 200 O")
            return random.one(in: 2) ? .reset : stall()
        case 5:
            peer.send("220 mail.example ESMTP\r\n\r\n")
            return .close
        case 6:
            peer.send("HTTP/1.1 200 OK\r\nX: " + String(repeating: "y", count: 400_000) + "\r\n\r\n")
            return .close
        case 7:
            peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n1234567")
            return .close
        default:
            guard readBody() != nil else { return .close }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\nshort")
            return random.one(in: 2) ? .close : .reset
        }
    }

    /// Says nothing for up to 4 s, or until the client has gone.
    private mutating func stall() -> ChaosServer.Next {
        pause(Int32.random(in: 50...4_000, using: &random))
        return random.one(in: 2) ? .reset : .close
    }

    func pause(_ milliseconds: Int32) {
        var event = pollfd(fd: peer.descriptor, events: 0x2000, revents: 0)  // POLLRDHUP
        _ = poll(&event, 1, milliseconds)
    }

    /// Leads somewhere else, or back, or to a port that nobody listens on; nil once it led far enough.
    private mutating func redirect() -> ChaosServer.Next? {
        guard hops.count < 5 || random.one(in: 40) else { return nil }
        let status = random.pick(isPlainPost ? [303, 307, 308] : [301, 302, 303, 307, 308])
        server.ledger.fault("redirect \(status)")
        let target = random.pick(authorities)
        guard readBody() != nil else { return .close }
        // Where the body is left behind, something else is to be found.
        let becomesGet =
            request.method == "POST" && status < 303 || status == 303 && !["GET", "HEAD"].contains(request.method)
        let place = becomesGet ? "/file/2" : path
        let location = random.one(in: 3) ? place : "http://\(target)\(place)"
        let ok = peer.respond(
            status, random.one(in: 3) ? "" : "moved",
            fields: ["Location: \(location)?via=\(hops)\(server.name)"] + cookie)
        return ok && !random.one(in: 4) ? .keep : .close
    }

    private mutating func turnAway() -> ChaosServer.Next {
        var status = random.pick([408, 429, 503, 500, 502, 401, 404, 300])
        if status == 401, isPlainPost { status = 503 }
        server.ledger.fault("status \(status)")
        guard readBody() != nil else { return .close }
        let after = random.pick([
            "Retry-After: 0", "Retry-After: 1", "Retry-After: 3600", "Retry-After: x", "X-None: 1",
        ])
        let fields = [after, "Date: \(Contents.date(Int(time(nil))))"] + cookie
        guard peer.respond(status, request.method == "HEAD" ? "" : "later", fields: fields) else { return .close }
        return status == 408 ? .close : .keep
    }

    // MARK: - Bodies that come

    /// Reads the body, whole or not at all; what it was.
    mutating func readBody() -> Checksum? {
        var sum = Checksum()
        if request["transfer-encoding"] != nil {
            while true {
                guard let line = peer.readLine(), let count = Int(line.prefix { $0 != ";" }, radix: 16) else {
                    return nil
                }
                let bytes = peer.readBytes(count)
                guard bytes.count == count, peer.readLine() != nil else { return nil }
                if count == 0 { return sum }
                sum.add(bytes)
            }
        }
        let isSlow = random.one(in: 10)
        while sum.count < request.contentLength {
            let wanted = min(request.contentLength - sum.count, isSlow ? 9_000 : 64 << 10)
            let bytes = peer.readBytes(wanted)
            sum.add(bytes)
            guard bytes.count == wanted else { return nil }
            if isSlow { pause(5) }
        }
        return sum
    }

    private mutating func receive() -> ChaosServer.Next {
        if hasBody, random.one(in: 12) {
            server.ledger.fault("body cut")
            if request["transfer-encoding"] == nil {
                _ = peer.readBytes(Int.random(in: 0..<request.contentLength, using: &random))
            }
            return random.one(in: 3) ? stall() : random.one(in: 2) ? .reset : .close
        }
        guard let sum = readBody() else { return .close }
        if request.method == "HEAD" { return peer.respond(200, "", fields: cookie) ? .keep : .close }
        return sendBody(200, Array(sum.text.utf8), fields: cookie, mayCompress: true)
    }

    // MARK: - Bodies that go

    /// A cookie, every other time; to a name below a public suffix one for the suffix, which the client must not keep.
    var cookie: [String] {
        let value = "secret-for-\(server.name)-\(request.target.utf8.count % 7)"
        if let host = request["host"]?.prefix(while: { $0 != ":" }), host.hasSuffix(".co.uk"), World.knowsSuffixes {
            return [
                "Set-Cookie: wide=\(value); Domain=co.uk; Path=/", "Set-Cookie: own=\(value); Domain=\(host); Path=/",
            ]
        }
        return request.target.utf8.count % 2 == 0
            ? ["Set-Cookie: sid=\(value); Path=/; Max-Age=600", "Set-Cookie: short=\(value); Path=/file"] : []
    }

    /// Sends a response whose body may go wrong in many ways, except that the client could not notice.
    mutating func sendBody(_ status: Int, _ bytes: [UInt8], fields: [String], mayCompress: Bool) -> ChaosServer.Next {
        var fields = fields
        var bytes = bytes
        if mayCompress, request["accept-encoding"]?.contains("gzip") == true, random.one(in: 4) {
            bytes = Gzip.stored(bytes)
            fields = fields.filter { !$0.hasPrefix("ETag:") } + ["Content-Encoding: gzip", "Vary: Accept-Encoding"]
        }
        let isChunked = random.one(in: 5) && status != 206
        let isLast = random.one(in: 6)
        fields.append(isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(bytes.count)")
        if isLast, random.one(in: 2) { fields.append("Connection: close") }
        if random.one(in: 12) { peer.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n") }
        let head = "HTTP/1.1 \(status) X\r\n" + fields.joined(separator: "\r\n") + "\r\n\r\n"
        let isTrickling = random.one(in: 12)
        guard trickle(Array(head.utf8), isTrickling) else { return .close }
        if request.method == "HEAD" { return isLast ? .close : .keep }
        let isCut = random.one(in: 8) && !bytes.isEmpty
        let end = isCut ? Int.random(in: 0..<bytes.count, using: &random) : bytes.count
        if isCut { server.ledger.fault("response cut") }
        var offset = 0
        while offset < end {
            let count = min(Int.random(in: 1...100_000, using: &random), end - offset)
            if isChunked { peer.send(String(count, radix: 16) + "\r\n") }
            guard trickle(Array(bytes[offset..<(offset + count)]), isTrickling && offset == 0) else { return .close }
            if isChunked { peer.send("\r\n") }
            offset += count
            if random.one(in: 12) { pause(Int32.random(in: 1...60, using: &random)) }
        }
        if isCut { return random.one(in: 4) ? stall() : random.one(in: 2) ? .reset : .close }
        if isChunked, !peer.send("0\r\n\r\n") { return .close }
        return isLast ? .close : .keep
    }

    /// Sends the first bytes one by one, if so asked.
    private func trickle(_ bytes: [UInt8], _ isTrickling: Bool) -> Bool {
        guard isTrickling else { return peer.send(bytes) }
        for byte in bytes.prefix(300) { if !peer.send([byte]) { return false } }
        return peer.send(Array(bytes.dropFirst(300)))
    }
}
