import ByteClubCore
import Crypto
import Synchronization

/// The nonces of signed requests of the last minutes, so that none is accepted twice (RFC 5849 section 3.3).
///
/// Each member has a limit, and a request beyond it is refused: no request can make the server forget a nonce early.
/// The memory is this process's, so requests that were signed before the process started are refused too.
final class NonceMemory: Sendable {
    /// Whose nonces are kept together.
    enum Signer: Hashable, Sendable {
        /// A member, with all programs that sign in the member's name.
        case member(Int64)
        /// An app that has no member yet. Its steps of signing in work once by themselves, so its oldest nonces may go.
        case app(String)
    }

    /// The remembered nonces of one signer.
    private struct Nonces {
        /// The first eight bytes of each nonce's hash: a collision affects only the signer.
        var recent: Set<UInt64> = []
        var older: Set<UInt64> = []
        var turn: Int64
    }

    /// How far a timestamp may be from the server's clock, in seconds.
    static let tolerance: Int64 = 600
    /// The most nonces of one signer in twenty minutes.
    static let maximumCount = 100_000

    private let start: Int64
    private let capacity: Int
    private let state = Mutex<[Signer: Nonces]>([:])

    /// Remembers from a moment on, in seconds since 1970.
    init(since start: Int64, capacity: Int = NonceMemory.maximumCount) {
        self.start = start
        self.capacity = capacity
    }

    /// Records the timestamp and the nonce of a request whose signature is right.
    ///
    /// - Throws: ``APIError`` 403 for a timestamp that is too far off and for a repeated nonce, 503 when the signer has
    ///   signed too much recently.
    func take(_ signed: OAuth1, of signer: Signer, at now: Int64) throws(APIError) {
        guard let timestamp = signed.timestamp.flatMap({ Int64($0) }), timestamp >= 0,
            abs(timestamp - now) <= Self.tolerance
        else { throw APIError(403, "the OAuth timestamp is over \(Self.tolerance) seconds off; set the clock") }
        guard timestamp >= start else {
            throw APIError(403, "the request was signed before the server was started; sign it again")
        }
        let key = Self.key(signed)
        let isNew: Bool? = state.withLock { state in
            var nonces = state.removeValue(forKey: signer) ?? Nonces(turn: now)
            defer { state[signer] = nonces }
            // A nonce is kept for one to two times the whole width of the window.
            let isOver = abs(now - nonces.turn) > 2 * Self.tolerance
            if nonces.recent.count >= capacity, !isOver {
                guard case .app = signer else { return nil }
            }
            if isOver || nonces.recent.count >= capacity {
                nonces = Nonces(older: nonces.recent, turn: now)
                state = state.filter { abs(now - $0.value.turn) <= 4 * Self.tolerance }
            }
            if nonces.older.contains(key) { return false }
            return nonces.recent.insert(key).inserted
        }
        switch isNew {
        case true?: return
        case false?: throw APIError(403, "the OAuth nonce was used before")
        case nil:
            throw APIError(503, "too many signed requests; try again later", retryAfter: Int(Self.tolerance))
        }
    }

    private static func key(_ signed: OAuth1) -> UInt64 {
        let text =
            "\(signed.consumerKey)\u{0}\(signed.token ?? "")\u{0}\(signed.timestamp ?? "")\u{0}\(signed.nonce ?? "")"
        return SHA256.hash(data: Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
