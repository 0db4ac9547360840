import Synchronization

/// The sign-ins of machines without a browser that wait for a member's decision (RFC 8628).
///
/// They are in memory only: after a restart the programs start again.
final class DeviceSignIns: Sendable {
    /// How long a code works, in seconds.
    static let lifetime: Int64 = 600
    /// How long a program waits between two questions, in seconds.
    static let interval: Int64 = 3
    /// How much longer a program waits that asked too soon, in seconds (RFC 8628 section 3.5).
    private static let penalty: Int64 = 5
    /// How many are remembered at once.
    private static let most = 1000
    /// How many of one requester wait at once.
    private static let mostOfParty = 20

    /// A program that asks for access.
    struct Asker: Hashable, Sendable {
        /// The program.
        let app: App
        /// The name of its machine; may be empty.
        let device: String
        /// Where it asks from.
        let address: IPAddress?
    }

    /// The state of a sign-in.
    enum Answer: Hashable, Sendable {
        /// No decision yet.
        case pending
        /// The program asked too soon; it is to wait longer from now on.
        case slowDown
        /// The member refused.
        case refused
        /// No decision in time.
        case expired
        /// There is no such sign-in, or not any more.
        case unknown
        /// The member agreed; the code of the ``Grant``.
        case allowed(grant: String)
    }

    private struct SignIn {
        let asker: Asker
        let requester: Requester
        let userCode: UserCode
        let expires: Int64
        var answer = Answer.pending
        var interval = DeviceSignIns.interval
        var asked: Int64

        func isWaiting(at now: Int64) -> Bool { expires > now && answer == .pending }
    }

    private let signIns = Mutex<[String: SignIn]>([:])

    /// Begins a sign-in; nil when too many wait already.
    ///
    /// - Returns: The secret with which the program polls, and the code that it shows.
    func begin(_ asker: Asker, for requester: Requester, at now: Int64) -> (deviceCode: String, userCode: UserCode)? {
        signIns.withLock { signIns in
            // A finished sign-in is kept for a while, so that its program learns the reason.
            signIns = signIns.filter { $0.value.expires + Self.lifetime > now }
            let waiting = signIns.values.count { $0.requester == requester && $0.isWaiting(at: now) }
            guard waiting < Self.mostOfParty else { return nil }
            if signIns.count >= Self.most { signIns = signIns.filter { $0.value.isWaiting(at: now) } }
            guard signIns.count < Self.most else { return nil }
            let (deviceCode, userCode) = (Secret.text(bytes: 32), UserCode())
            signIns[deviceCode] = SignIn(
                asker: asker, requester: requester, userCode: userCode, expires: now + Self.lifetime, asked: now)
            return (deviceCode, userCode)
        }
    }

    /// The program that shows a code and waits; nil when none does.
    func asker(showing code: UserCode, at now: Int64) -> Asker? {
        signIns.withLock { Self.waiting($0, code, at: now)?.value.asker }
    }

    /// Records a member's decision on a code; false when no program waits for it any more.
    func answer(_ answer: Answer, to code: UserCode, at now: Int64) -> Bool {
        signIns.withLock { signIns in
            guard let found = Self.waiting(signIns, code, at: now) else { return false }
            signIns[found.key]?.answer = answer
            return true
        }
    }

    /// The state of a program's sign-in, which ends with a decision.
    func ask(_ deviceCode: String, by app: App, at now: Int64) -> Answer {
        signIns.withLock { signIns in
            guard var signIn = signIns[deviceCode], signIn.asker.app.key == app.key else { return .unknown }
            if signIn.answer != .pending {
                signIns[deviceCode] = nil
                return signIn.answer
            }
            if signIn.expires <= now { return .expired }
            // The clock has whole seconds, so that one less is not too soon.
            let isTooSoon = now - signIn.asked < signIn.interval - 1
            signIn.asked = now
            if isTooSoon { signIn.interval += Self.penalty }
            signIns[deviceCode] = signIn
            return isTooSoon ? .slowDown : .pending
        }
    }

    private static func waiting(
        _ signIns: [String: SignIn], _ code: UserCode, at now: Int64
    ) -> (key: String, value: SignIn)? {
        signIns.first { $0.value.userCode == code && $0.value.isWaiting(at: now) }
    }
}

/// The short code that a program shows and a member types on the page `/device` (RFC 8628 section 6.1).
struct UserCode: Hashable, Sendable, CustomStringConvertible {
    /// Letters that cannot be confused and make no words: 34 bits in eight of them.
    private static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ")
    private static let count = 8

    private let letters: String

    /// A code by chance.
    init() {
        var generator = SystemRandomNumberGenerator()
        letters = String((0..<Self.count).compactMap { _ in Self.alphabet.randomElement(using: &generator) })
    }

    /// Parses a typed code in any case, with or without hyphens and blanks; nil when the text is no code.
    init?(_ text: String) {
        guard text.utf8.count <= 32 else { return nil }
        letters = text.uppercased().filter { $0 != "-" && !$0.isWhitespace }
        guard letters.count == Self.count, letters.allSatisfy(Self.alphabet.contains) else { return nil }
    }

    /// The code as people read it: `WDJB-MJHT`.
    var description: String { letters.prefix(Self.count / 2) + "-" + letters.suffix(Self.count / 2) }
}
