import HTTPTypes
import Synchronization

@testable import ByteClubHTTP

/// Lets requests pass that carry the name `ada` and a password, by Basic or by Digest with SHA-256, as a server or a
/// proxy does.
final class Doorkeeper: Sendable {
    private struct State {
        var nonce = 1
        /// The counters seen with the current nonce; none may come again.
        var counters: Set<String> = []
        /// The nonces that were given and not used, where each is for one request.
        var unused: Set<String> = []
    }

    private let isDigest: Bool
    private let realm: String
    private let password: String
    /// How many requests may use a nonce; with 1 each challenge has a nonce of its own.
    private let usesOfNonce: Int
    private let state = Mutex(State())

    init(isDigest: Bool, realm: String = "club", password: String = "right", usesOfNonce: Int = .max) {
        self.isDigest = isDigest
        self.realm = realm
        self.password = password
        self.usesOfNonce = usesOfNonce
    }

    /// The challenge to a request; nil if it may pass.
    func objection(to request: RecordedRequest, in field: String = "authorization") -> String? {
        let answer = request[field].flatMap { challenges($0).first }
        guard isDigest else {
            let isRight = answer?.scheme == "basic" && answer?.token == Array("ada:\(password)".utf8).base64
            return isRight ? nil : "Basic realm=\"\(realm)\", charset=\"UTF-8\""
        }
        return state.withLock { state in
            let isRight = answer.map { self.isRight($0, request) } ?? false
            let nonce = answer?.parameters["nonce"] ?? ""
            if usesOfNonce == 1 {
                if isRight, state.unused.remove(nonce) != nil { return nil }
                state.nonce += 1
                state.unused.insert("n\(state.nonce)")
                return challenge(state.nonce, isStale: isRight)
            }
            guard let answer, isRight else { return challenge(state.nonce, isStale: false) }
            let isCurrent = nonce == "n\(state.nonce)"
            if isCurrent, state.counters.count < usesOfNonce,
                state.counters.insert(answer.parameters["nc"] ?? "").inserted
            {
                return nil
            }
            if isCurrent {
                state.nonce += 1
                state.counters = []
            }
            return challenge(state.nonce, isStale: true)
        }
    }

    private func challenge(_ nonce: Int, isStale: Bool) -> String {
        "Digest realm=\"\(realm)\", nonce=\"n\(nonce)\", algorithm=SHA-256, qop=\"auth\", opaque=\"o\", stale=\(isStale)"
    }

    private func isRight(_ answer: AuthenticationChallenge, _ request: RecordedRequest) -> Bool {
        let fields = answer.parameters
        guard answer.scheme == "digest", fields["username"] == "ada", fields["realm"] == realm,
            fields["uri"] == request.target, fields["opaque"] == "o",
            let nonce = fields["nonce"], let count = fields["nc"], let clients = fields["cnonce"]
        else { return false }
        let hash = { (text: String) in Checksum.sha256(Array(text.utf8)).hexadecimal }
        let secret = hash("ada:\(realm):\(password)")
        let work = hash("\(request.method):\(request.target)")
        return fields["response"] == hash("\(secret):\(nonce):\(count):\(clients):auth:\(work)")
    }

    /// A server with this doorkeeper that answers with the number of the body's bytes.
    func server() throws -> FaultServer {
        try FaultServer { peer, request in
            let count = peer.skip(request.contentLength)
            if let objection = self.objection(to: request) {
                return peer.respond(401, fields: ["WWW-Authenticate: \(objection)"]) ? .keep : .close
            }
            return peer.respond(200, "\(count)") ? .keep : .close
        }
    }
}

/// The challenges of field values, read as those of one response.
func challenges(_ values: String...) -> [AuthenticationChallenge] {
    var reader = ChallengeReader(origin: "http://e.test", isOfProxy: false)
    for value in values { reader.read(Array(value.utf8)) }
    return reader.challenges
}
