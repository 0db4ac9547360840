import ByteClubCore
import Testing

@testable import ByteClubServer

@Suite("Nonces of signed requests") struct NonceMemoryTests {
    private static func signed(_ token: String, _ nonce: String, at timestamp: Int64) throws -> OAuth1 {
        let values = [
            "oauth_consumer_key": "app", "oauth_token": token, "oauth_nonce": nonce, "oauth_timestamp": "\(timestamp)",
            "oauth_signature_method": "HMAC-SHA1", "oauth_signature": "x",
        ]
        return try OAuth1 { name in values[name].map { ($0, $0) } }
    }

    private static func status(_ body: () throws(APIError) -> Void) -> Int {
        do {
            try body()
            return 200
        } catch {
            return error.status
        }
    }

    @Test("a member who signs without end makes the server forget no request, of others or of their own")
    func flooding() throws {
        let memory = NonceMemory(since: 0, capacity: 100)
        let victim = try Self.signed("ann", "overheard", at: 1000)
        try memory.take(victim, of: .member(1), at: 1000)
        let own = try Self.signed("eve", "0", at: 1000)
        var answers: [Int: Int] = [:]
        for number in 0..<500 {
            let request = try Self.signed("eve", "\(number)", at: 1000)
            answers[
                Self.status { () throws(APIError) in try memory.take(request, of: .member(2), at: 1000) }, default: 0] +=
                1
        }
        #expect(answers == [200: 100, 503: 400])
        #expect(Self.status { () throws(APIError) in try memory.take(victim, of: .member(1), at: 1000) } == 403)
        let later: Int64 = 1000 + NonceMemory.tolerance
        #expect(Self.status { () throws(APIError) in try memory.take(victim, of: .member(1), at: later) } == 403)
        #expect(Self.status { () throws(APIError) in try memory.take(own, of: .member(2), at: 1000) } != 200)
        // Who waits may sign again, and what was signed before is still known while its timestamp is good.
        let after: Int64 = 1001 + 2 * NonceMemory.tolerance
        let next = try Self.signed("eve", "next", at: after)
        #expect(Self.status { () throws(APIError) in try memory.take(next, of: .member(2), at: after) } == 200)
    }

    @Test("a request that was overheard before a restart is worth nothing after it")
    func restart() throws {
        let overheard = try Self.signed("ann", "once", at: 5000)
        try NonceMemory(since: 4000).take(overheard, of: .member(1), at: 5000)
        let restarted = NonceMemory(since: 5001)
        #expect(Self.status { () throws(APIError) in try restarted.take(overheard, of: .member(1), at: 5002) } == 403)
        let fresh = try Self.signed("ann", "twice", at: 5002)
        #expect(Self.status { () throws(APIError) in try restarted.take(fresh, of: .member(1), at: 5002) } == 200)
    }

    @Test("an app's steps of signing in never find its nonces full")
    func apps() throws {
        let memory = NonceMemory(since: 0, capacity: 10)
        for number in 0..<50 {
            let request = try Self.signed("", "\(number)", at: 1000)
            try memory.take(request, of: .app("app"), at: 1000)
        }
    }
}
