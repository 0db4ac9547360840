import Synchronization

@testable import ByteClubHTTP

/// Lets requests pass that carry the right credential, by Basic or by Digest with nonces that soon are outdated.
final class Door: Sendable {
    /// What a door asks for.
    enum Kind: String, CaseIterable {
        case basic, digest, both
    }

    private struct State {
        var random: Seeded
        var last = 0
        /// The nonces that may still be used, the newest last.
        var nonces: [Nonce] = []
    }

    private struct Nonce {
        let number: Int
        /// The counters that were used; none may come again.
        var counters: Set<String> = []
        let uses: Int
    }

    private static let mostNonces = 8
    private static let algorithms = ["MD5", "SHA-256", "MD5-sess", "SHA-256-sess"]

    private let owner: String
    private let ledger: Ledger
    private let state: Mutex<State>

    /// The path of a door of some kind, and of what is behind it.
    static func split(_ path: String) -> (kind: Kind, inner: String)? {
        for kind in Kind.allCases where path.hasPrefix("/door/\(kind.rawValue)/") {
            return (kind, String(path.dropFirst("/door/\(kind.rawValue)".count)))
        }
        return nil
    }

    init(_ owner: String, ledger: Ledger, seed: UInt64) {
        self.owner = owner
        self.ledger = ledger
        state = Mutex(State(random: Seeded(seed: seed)))
    }

    /// The challenges to a request, a field each; nil if it may pass.
    func objection(to request: RecordedRequest, _ kind: Kind, in field: String) -> [String]? {
        var reader = ChallengeReader(origin: "", isOfProxy: false)
        reader.read(Array((request[field] ?? "").utf8))
        let answer = reader.challenges.first
        let name = field == "authorization" ? "door" : "proxy"
        if kind != .digest, let answer, answer.scheme == "basic", let token = answer.token,
            "Basic " + token == Secret.credential(of: owner, for: "basic").basicField
        {
            ledger.fault("\(name) opened by basic")
            return nil
        }
        let (isOpen, isStale) = judge(kind == .basic ? nil : answer, request)
        if isOpen {
            ledger.fault("\(name) opened by digest")
            return nil
        }
        ledger.fault("\(name) asked\(isStale ? " anew: stale nonce" : "")")
        return challenges(kind, isStale: isStale)
    }

    /// Whether an answer by Digest opens the door, and else whether only its nonce is outdated.
    private func judge(_ answer: AuthenticationChallenge?, _ request: RecordedRequest) -> (isOpen: Bool, isStale: Bool)
    {
        guard let answer, isRight(answer, request) else { return (false, false) }
        let (nonce, counter) = (answer.parameters["nonce"], answer.parameters["nc"] ?? "")
        return state.withLock { state in
            guard let index = state.nonces.firstIndex(where: { "n\($0.number)" == nonce }),
                state.nonces[index].counters.count < state.nonces[index].uses,
                state.nonces[index].counters.insert(counter).inserted
            else { return (false, true) }
            return (true, false)
        }
    }

    private func isRight(_ answer: AuthenticationChallenge, _ request: RecordedRequest) -> Bool {
        let fields = answer.parameters
        let (realm, user) = ("club-\(owner)", "secret-for-\(owner)-digest")
        guard answer.scheme == "digest", fields["username"] == user, fields["realm"] == realm,
            fields["uri"] == request.target, let nonce = fields["nonce"], let count = fields["nc"],
            let clients = fields["cnonce"], let algorithm = fields["algorithm"]
        else { return false }
        let isSHA = algorithm.hasPrefix("SHA-256")
        func hash(_ text: String) -> String {
            let bytes = Array(text.utf8)
            return (isSHA ? ByteClubHTTP.Checksum.sha256(bytes) : ByteClubHTTP.Checksum.md5(bytes)).hexadecimal
        }
        let base = hash("\(user):\(realm):right-\(owner)-digest")
        let secret = algorithm.hasSuffix("-sess") ? hash("\(base):\(nonce):\(clients)") : base
        let work = hash("\(request.method):\(request.target)")
        return fields["response"] == hash("\(secret):\(nonce):\(count):\(clients):auth:\(work)")
    }

    /// The challenges, among others that nobody can answer, and some that break the rules.
    private func challenges(_ kind: Kind, isStale: Bool) -> [String] {
        state.withLock { state in
            var fields: [String] = []
            if kind != .basic { fields.append(Self.digest(owner, isStale: isStale, &state)) }
            if kind != .digest { fields.append("Basic realm=\"club-\(owner)\", charset=\"UTF-8\"") }
            if state.random.one(in: 2) { fields.reverse() }
            guard state.random.one(in: 6) else { return fields }
            let others = [
                "Negotiate, Bearer realm=\"club\"", "Basic realm=\"club", ",,,=,\"\\",
                (0..<300).map { "S\($0) a=b" }.joined(separator: ", "),
                "Digest realm=\"x\", nonce=\"\(String(repeating: "n", count: 20_000))\"",
                "Digest realm=\"x\", nonce=\"n\", algorithm=SHA-512-256, qop=auth",
            ]
            fields.insert(state.random.pick(others), at: state.random.one(in: 4) ? 0 : fields.count)
            return fields
        }
    }

    private static func digest(_ owner: String, isStale: Bool, _ state: inout State) -> String {
        if state.nonces.last.map({ $0.counters.count >= $0.uses }) ?? true || state.random.one(in: 3) {
            state.last += 1
            state.nonces.append(Nonce(number: state.last, uses: Int.random(in: 1...12, using: &state.random)))
            if state.nonces.count > mostNonces { state.nonces.removeFirst() }
        }
        let number = state.nonces.last?.number ?? 0
        return "Digest realm=\"club-\(owner)\", nonce=\"n\(number)\", algorithm=\(algorithms[number % 4]), "
            + "qop=\"auth, auth-int\", opaque=\"o\", stale=\(isStale)"
    }
}
