import TestSupport

/// A version of a file that a test's server has, and the ways to send it.
struct VersionedFile: Sendable {
    var bytes: [UInt8]
    var tag: String

    static let first = VersionedFile(bytes: noise(300_000, seed: 1), tag: #""v1""#)
    static let second = VersionedFile(bytes: noise(320_000, seed: 2), tag: #""v2""#)

    var count: Int { bytes.count }

    /// Sends the whole with 200, or only its first bytes.
    func send(to peer: Peer, cutAt cut: Int? = nil, fields: [String]? = nil) -> FaultServer.Next {
        let lines = ["HTTP/1.1 200 OK", "Content-Length: \(count)"] + (fields ?? ["ETag: \(tag)"])
        peer.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        let isSent = peer.send(Array(bytes.prefix(cut ?? count)))
        return isSent && cut == nil ? .keep : .close
    }

    /// Sends a part with 206, which by default describes the part correctly.
    func send(
        _ range: Range<Int>, to peer: Peer, says: String? = nil, tag: String?? = nil, fields: [String] = [],
        length: Int? = nil, cutAt cut: Int? = nil
    ) -> FaultServer.Next {
        var lines = ["HTTP/1.1 206 Partial Content", "Content-Length: \(length ?? range.count)"] + fields
        lines.append("Content-Range: \(says ?? "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)")")
        if let tag = tag ?? self.tag { lines.append("ETag: \(tag)") }
        peer.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        let isSent = peer.send(Array(bytes[range].prefix(cut ?? range.count)))
        return isSent && cut == nil ? .keep : .close
    }

    /// A server that sends the first bytes and then waits for the client's end, and sends all of a range.
    func server(holdingAt count: Int) throws -> FaultServer {
        try FaultServer { peer, request in
            if request.rangeStart != nil { return answer(request, to: peer) }
            _ = send(to: peer, cutAt: count)
            peer.waitForEnd()
            return .close
        }
    }

    /// Responds to a request with or without a range as RFC 9110 requires.
    func answer(_ request: RecordedRequest, to peer: Peer, cutAt cut: Int? = nil) -> FaultServer.Next {
        guard let start = request.rangeStart, request["if-range"] == tag else { return send(to: peer, cutAt: cut) }
        guard start < count else {
            return peer.respond(416, fields: ["Content-Range: bytes */\(count)"]) ? .keep : .close
        }
        return send(start..<count, to: peer, cutAt: cut)
    }
}

extension RecordedRequest {
    /// The first requested byte of a range to the end.
    var rangeStart: Int? {
        guard let text = self["range"], text.hasPrefix("bytes="), text.hasSuffix("-") else { return nil }
        return Int(text.dropFirst(6).dropLast())
    }
}
