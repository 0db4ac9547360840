import HTTPTypes
import Logging
import Synchronization

/// A request's line in the log; it never holds a query, a header or any other place where secrets may be.
struct RequestRecord: Sendable, CustomStringConvertible {
    /// The request's identifier.
    let id: String
    /// How long the response took, in seconds.
    private(set) var seconds = 0.0
    /// The response's status.
    private(set) var status = 0
    /// The bytes of the body that came in.
    private(set) var received: Int64 = 0
    /// The bytes of the body that went out.
    private(set) var sent: Int64 = 0
    /// The loggable form of the path.
    var path: String
    /// The endpoint's name; `none` as long as it is not known.
    var endpoint = "none"
    /// The number of the member; nil until the sender is authenticated.
    var member: Int64?
    private let method: String
    private let peer: String

    /// Records the parts that are known when a request arrives.
    init(_ request: Request, id: String) {
        self.id = id
        method = request.method.rawValue
        path = (try? request.place.get())?.loggable ?? RequestTarget.loggable(request.target)
        peer = request.client.address?.description ?? "-"
    }

    /// Records the parts that are known when it is answered.
    mutating func finish(status: Int, received: Int64, sent: Int64, since start: ContinuousClock.Instant) {
        seconds = start.duration(to: .now) / .seconds(1)
        self.status = status
        self.received = received
        self.sent = sent
    }

    /// Adds bytes of a body whose length was not known before.
    mutating func add(sent count: Int64) { sent += count }

    private var milliseconds: Double { (seconds * 1e4).rounded() / 10 }

    /// The line, as in `GET /1/files/auto/a.md 200 0.8ms in=0 out=1310 peer=192.0.2.7 uid=3 id=…`.
    var description: String {
        "\(method) \(path) \(status) \(milliseconds)ms in=\(received) out=\(sent) peer=\(peer) "
            + "uid=\(member.map(String.init) ?? "-") id=\(id)"
    }

    /// The same in fields, for logs that programs read.
    var fields: Logger.Metadata {
        var fields: Logger.Metadata = [
            "method": .string(method), "path": .string(path), "status": .stringConvertible(status),
            "ms": .stringConvertible(milliseconds), "in": .stringConvertible(received),
            "out": .stringConvertible(sent), "peer": .string(peer), "id": .string(id),
        ]
        if let member { fields["uid"] = .stringConvertible(member) }
        return fields
    }
}

/// Names for requests, unique among all servers with near certainty, so that a client's report finds the log's line.
final class RequestIDs: Sendable {
    private let prefix = String(UInt64.random(in: .min ... .max) | 1 << 63, radix: 16)
    private let next = Atomic<UInt64>(0)

    /// A name that was never given before.
    func make() -> String {
        prefix + String(next.wrappingAdd(1, ordering: .relaxed).oldValue, radix: 16)
    }
}
