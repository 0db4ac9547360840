import ByteClubCore
import TestSupport

/// One lie of a server, named after what it would gain.
struct HostileLie: Sendable {
    /// What the server would gain.
    let gain: String
    /// About which requests it lies: the beginning of their targets.
    let target: String
    /// What the program is asked to do, without the options that each test adds.
    let command: [String]
    /// With what the program may end; 76 says that the server breaks the protocol.
    var statuses: Set<Int32> = [76]
    /// What it sends.
    let answer: LyingProxy.Answer

    init(
        _ gain: String, about target: String, to command: [String] = ["sync"], statuses: Set<Int32> = [76],
        _ answer: @escaping LyingProxy.Answer
    ) {
        (self.gain, self.target, self.command, self.statuses, self.answer) = (gain, target, command, statuses, answer)
    }
}

/// What hostile servers send.
enum HostileAnswer {
    /// More than this nobody is sent, who should have gone long before.
    private static let most = 512 << 20

    /// A whole answer.
    static func whole(_ body: String, status: Int = 200, fields: [String] = []) -> LyingProxy.Answer {
        let bytes = Array(body.utf8)
        let head = head(status, fields + ["Content-Length: \(bytes.count)"])
        return { _, send in _ = send(head) && send(bytes) }
    }

    /// An answer that depends on the request.
    static func asked(_ body: @escaping @Sendable (RawMessage) -> String) -> LyingProxy.Answer {
        { request, send in whole(body(request))(request, send) }
    }

    /// A body of a beginning and then the same part without an end.
    static func endless(_ start: String, _ part: String, fields: [String] = []) -> LyingProxy.Answer {
        let (head, start) = (head(200, fields), Array(start.utf8))
        let parts = Array(String(repeating: part, count: max(1, 65_536 / part.utf8.count)).utf8)
        return { _, send in
            guard send(head), send(start) else { return }
            var sent = 0
            while sent < most, send(parts) { sent += parts.count }
        }
    }

    /// A head without an end.
    static func endlessHead(_ line: String) -> LyingProxy.Answer {
        let lines = Array(String(repeating: line + "\r\n", count: 1_000).utf8)
        return { _, send in
            guard send(Array("HTTP/1.1 200 OK\r\n".utf8)) else { return }
            var sent = 0
            while sent < most, send(lines) { sent += lines.count }
        }
    }

    /// A body that is small on its way and large when it is there.
    static func bomb(_ gzip: [UInt8]) -> LyingProxy.Answer {
        let head = head(200, ["Content-Encoding: gzip", "Content-Length: \(gzip.count)"])
        return { _, send in _ = send(head) && send(gzip) }
    }

    /// A redirect to another place.
    static func redirect(_ status: Int, to place: String) -> LyingProxy.Answer {
        let head =
            "HTTP/1.1 \(status) Elsewhere\r\nLocation: \(place)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        return { _, send in _ = send(Array(head.utf8)) }
    }

    private static func head(_ status: Int, _ fields: [String]) -> [UInt8] {
        Array((["HTTP/1.1 \(status) Answer", "Connection: close"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
    }
}

/// The objects of both wires, with whatever a test puts into them.
enum WireText {
    /// A page of the journal.
    static func page(
        _ entries: [String], cursor: String = "x.1", reset: Bool = true, more: Bool = false, contents: String = ""
    ) -> String {
        """
        {"reset": \(reset), "cursor": "\(cursor)", "has_more": \(more), "entries": \
        [\(entries.joined(separator: ","))]}\n
        """ + contents
    }

    /// An entry of the journal; a folder unless it has a content.
    static func entry(
        _ id: Int, in parent: Int, _ name: String, at sequence: Int, _ others: String = ""
    ) -> String {
        """
        {"id": \(id), "parent": \(parent), "name": "\(name)", "rev": \(sequence), "place_rev": \(sequence), \
        "seq": \(sequence), "modified": 1, "by": 1\(others.isEmpty ? ", \"folder\": true" : ", " + others)}
        """
    }

    /// The mirrored folder as the journal tells it first.
    static let root = entry(1, in: 0, "byteclub", at: 1)

    /// What an entry of a file has besides.
    static func file(_ text: String, bytes: Int64? = nil) -> String {
        let hash = ContentHasher.hash(Array(text.utf8))
        return "\"folder\": false, \"bytes\": \(bytes ?? Int64(text.utf8.count)), \"hash\": \"\(hash)\""
    }

    /// A page of `/delta`.
    static func delta(_ entries: [String], cursor: String = "x", reset: Bool = true, more: Bool = false) -> String {
        """
        {"reset": \(reset), "cursor": "\(cursor)", "has_more": \(more), "entries": [\(entries.joined(separator: ","))]}
        """
    }

    /// A change of `/delta`.
    static func change(_ path: String, _ others: String = "\"is_dir\": true") -> String {
        "[\"\(path.lowercased())\", \(metadata(path, others))]"
    }

    /// An entry of Core API v1.
    static func metadata(_ path: String, _ others: String) -> String {
        "{\"path\": \"\(path)\", \"rev\": \"100000001\", \(others)}"
    }

    /// The number at the end of a cursor that these pages gave; 0 when the request has none.
    static func step(of request: RawMessage) -> Int {
        let text = request.target + "?" + request.text
        guard let start = text.firstRange(of: "cursor=")?.upperBound else { return 0 }
        return Int(text[start...].prefix { $0 != "&" && $0 != "?" }.split(separator: ".").last ?? "") ?? 0
    }
}
