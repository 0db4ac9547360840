import HTTPTypes
import HummingbirdCore

/// A request's line in the log; it never holds a query, a header or any other place where secrets may be.
struct RequestRecord: Sendable, CustomStringConvertible {
    /// What the server calls the request.
    let id: String
    private let method: String
    private var path: String
    private var status = 0
    private var milliseconds = 0.0
    private var received: Int64 = 0
    private var sent: Int64 = 0
    private var member: Int64?

    /// Notes what is known when a request comes in.
    init(_ request: Request, id: String) {
        self.id = id
        method = request.method.rawValue
        path = RequestTarget.loggable(request.head.path ?? "")
    }

    /// Notes what is known when it is answered.
    mutating func finish(_ call: Call, status: Int, sent: Int64, since start: ContinuousClock.Instant) {
        let elapsed = (ContinuousClock.now - start).components
        milliseconds = Double(elapsed.seconds) * 1e3 + Double(elapsed.attoseconds) / 1e15
        self.status = status
        self.sent = sent
        received = call.body.received
        member = call.member?.uid
        if let shown = call.loggablePath { path = shown }
    }

    /// The line, as in `GET /1/files/auto/a.md 200 0.8ms in=0 out=1310 uid=3 id=…`.
    var description: String {
        let tenths = Int64((milliseconds * 10).rounded())
        return "\(method) \(path) \(status) \(tenths / 10).\(tenths % 10)ms in=\(received) out=\(sent) "
            + "uid=\(member.map(String.init) ?? "-") id=\(id)"
    }
}
