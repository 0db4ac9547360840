import Crypto
import Synchronization

/// The nonces of signed requests of the last minutes, so that none is taken twice (RFC 5849 section 3.3).
///
/// It is this process's memory: after a restart a request that was overheard can be repeated while its timestamp is good.
final class NonceMemory: Sendable {
    /// How far a timestamp may be from the server's clock, in seconds.
    static let tolerance: Int64 = 600
    private static let maximumCount = 200_000

    private struct State {
        var recent: Set<[UInt8]> = []
        var older: Set<[UInt8]> = []
        var turn: Int64 = 0
    }

    private let state = Mutex(State())

    /// Takes a nonce; false when it was taken before.
    func take(_ signed: OAuth1, at now: Int64) -> Bool {
        let text =
            "\(signed.consumerKey)\u{0}\(signed.token ?? "")\u{0}\(signed.timestamp ?? "")\u{0}\(signed.nonce ?? "")"
        let key = Array(SHA256.hash(data: Array(text.utf8)).prefix(16))
        return state.withLock { state in
            // A nonce is kept for one to two times the whole width of the window.
            if abs(now - state.turn) > 2 * Self.tolerance || state.recent.count >= Self.maximumCount {
                state.older = state.recent
                state.recent = []
                state.turn = now
            }
            if state.older.contains(key) { return false }
            return state.recent.insert(key).inserted
        }
    }
}
