import Synchronization

@testable import ByteClubHTTP

/// The soak's TLS server, which has one certificate and two names.
struct TLSServer: Sendable {
    static let name = "soak-tls.invalid"
    private static let wrongPin = PublicKeyPin("sha256//" + String(repeating: "A", count: 43) + "=")

    /// By its address, as its certificate has it as well.
    let authority: String
    /// By its name, which no lookup may leave the machine for.
    let named: String
    /// The file with the certificate.
    let certificate: String
    let pin: PublicKeyPin

    /// Reads `HOST:PORT,CERTIFICATE,PIN`; nil for other text.
    init?(_ text: String) {
        let parts = text.split(separator: ",").map(String.init)
        guard parts.count == 3, let port = parts[0].split(separator: ":").last, Int(port) != nil,
            let pin = PublicKeyPin(parts[2])
        else { return nil }
        (authority, certificate, self.pin) = (parts[0], parts[1], pin)
        named = "\(Self.name):\(port)"
    }

    var addressOverride: AddressOverride? {
        let port = named.split(separator: ":").last.flatMap { Int($0) }
        return port.flatMap { AddressOverride(host: Self.name, port: $0, addresses: ["127.0.0.1"]) }
    }

    /// Pinned keys, of which the server may have one.
    func pins(_ random: inout Seeded) -> Set<PublicKeyPin> {
        let wrong = Self.wrongPin.map { Set([$0]) } ?? []
        return random.pick([[pin], [pin], wrong, wrong.union([pin])])
    }

    /// Whether a session with these settings has the server's certificate verified.
    func isVerified(by settings: SessionConfiguration) -> Bool {
        settings.pinnedKeys.isEmpty ? settings.certificateAuthorityFile != nil : settings.pinnedKeys.contains(pin)
    }
}

/// The trust evaluator of one session: it answers at once or late, this way or that, or when nobody waits any more.
///
/// It judges what it is asked, and whether the results of tasks agree with its answers.
final class Gatekeeper: Sendable {
    private struct State {
        var random: Seeded
        var last = 0
        /// The questions that wait for an answer, by what they are about.
        var open: [String: Int] = [:]
        /// What was accepted or refused by an answer that may count.
        var accepted: Set<String> = []
        var refused: Set<String> = []
        /// The last answers, also those that came too late to count.
        var said: [String: Bool] = [:]
        /// What the results of tasks have shown to be accepted or refused.
        var served: Set<String> = []
        var rejected: Set<String> = []
    }

    static let alive = Atomic<Int>(0)

    private let ledger: Ledger
    private let server: TLSServer
    /// The pinned keys of the session, and whether the server's certificate is verified at all.
    private let isPinned: Bool
    private let isVerified: Bool
    private let state: Mutex<State>

    init(_ ledger: Ledger, _ server: TLSServer, _ settings: SessionConfiguration, _ random: Seeded) {
        (self.ledger, self.server) = (ledger, server)
        (isPinned, isVerified) = (!settings.pinnedKeys.isEmpty, server.isVerified(by: settings))
        state = Mutex(State(random: random))
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }

    // MARK: - Questions

    /// Answers a question; two at a time about one server break a promise.
    ///
    /// One whose tasks have all ended is cancelled, and another may be asked at once.
    func answer(_ trust: ServerTrust) async -> Bool {
        let place = "\(trust.host):\(trust.port)"
        if !isVerified { ledger.violation("asked about \(place), which is not verified") }
        if ![server.authority, server.named].contains(place) || trust.publicKey != server.pin
            || trust.certificates.count != 1
        {
            ledger.violation("asked about \(place), \(trust.publicKey), \(trust.certificates.count) certificates")
        }
        ledger.outcome("trust", isPinned ? "asked about a pinned key" : "asked")
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            begin(number, place)
            defer { end(number) }
            return await decide(place)
        } onCancel: {
            end(number)
        }
    }

    private func begin(_ number: Int, _ place: String) {
        let problem = state.withLock { state -> String? in
            // Its end has been noted already.
            if Task.isCancelled { return nil }
            if state.served.contains(place) || state.rejected.contains(place) { return "asked again" }
            return state.open.updateValue(number, forKey: place) == nil ? nil : "two questions at once"
        }
        if let problem { ledger.violation("\(problem) about \(place)") }
    }

    private func end(_ number: Int) {
        state.withLock { state in state.open = state.open.filter { $0.value != number } }
    }

    private func decide(_ place: String) async -> Bool {
        let (choice, pause, isTrusted) = state.withLock { state in
            (
                Int.random(in: 0..<8, using: &state.random), Int.random(in: 0...60, using: &state.random),
                !state.random.one(in: state.said[place] == nil ? 3 : 2)
            )
        }
        switch choice {
        // Until nobody waits, or for long.
        case 0: try? await Task.sleep(for: .seconds(2))
        // Whether anybody waits or not.
        case 1: await Task.detached { try? await Task.sleep(for: .milliseconds(200)) }.value
        default: if pause > 4 { try? await Task.sleep(for: .milliseconds(pause)) }
        }
        return state.withLock { state in
            // The session has forgotten the question, so this must not let anybody in.
            if Task.isCancelled {
                ledger.outcome("trust", "answered too late")
                state.said[place] = true
                return true
            }
            if state.said.updateValue(isTrusted, forKey: place) == !isTrusted {
                ledger.outcome("trust", "changed its mind")
            }
            if isTrusted { state.accepted.insert(place) } else { state.refused.insert(place) }
            return isTrusted
        }
    }

    // MARK: - Results

    /// Judges the result of a task whose request was for this server.
    func judge(_ result: Result<TaskResult, TransferError>, from place: String) {
        switch result {
        case .success(let result):
            guard result.source == .network else { return }
            let (isAccepted, isRejected) = state.withLock { state in
                state.served.insert(place)
                return (state.accepted.contains(place), state.rejected.contains(place))
            }
            ledger.outcome("trust", "accepted")
            if !isAccepted { ledger.violation("\(place) answered, which nobody had accepted") }
            if isRejected { ledger.violation("\(place) answered, which was refused before") }
        case .failure(let error):
            guard error.code == .tls, error.message.hasPrefix("the trust evaluator refuses") else { return }
            let (isRefused, isServed) = state.withLock { state in
                state.rejected.insert(place)
                return (state.refused.contains(place), state.served.contains(place))
            }
            ledger.outcome("trust", "refused")
            if !isRefused { ledger.violation("\(place) is refused, which nobody has done: \(error)") }
            if isServed { ledger.violation("\(place) is refused, which answered before: \(error)") }
            let sent = error.metrics.attempts.reduce(error.bytesSent) { $0 + $1.bytesSent }
            if sent != 0 || error.metrics.attempts.contains(where: { $0.status != 0 }) || error.isRetryable {
                ledger.violation("\(place) is refused, and got \(sent) bytes: \(error)")
            }
        }
    }
}
