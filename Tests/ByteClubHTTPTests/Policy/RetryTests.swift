import Testing

@testable import ByteClubHTTP

struct RetryTests {
    @Test("waits are random below a bound that doubles up to the longest")
    func delays() {
        var random = SplitMix(state: 1)
        let policy = RetryPolicy.standard
        for (attempt, bound) in [(1, 0.5), (2, 1.0), (3, 2.0), (8, 60.0), (1000, 60.0)] {
            let delays = (0..<200).map { _ in policy.delay(after: attempt, using: &random) }
            #expect(delays.allSatisfy { $0 >= .zero && $0 <= .seconds(bound) })
            #expect(delays.contains { $0 > .seconds(bound * 0.8) } && delays.contains { $0 < .seconds(bound * 0.2) })
        }
    }

    @Test("retries are at most a fifth of the requests once the initial budget is spent")
    func budget() {
        var budget = RetryBudget(.standard)
        var retries = 0
        for _ in 0..<1000 {
            budget.earn()
            while budget.spend() { retries += 1 }
        }
        #expect((200...232).contains(retries))
    }

    @Test(
        "Retry-After is read as seconds or as a date",
        arguments: [
            ("120", 120), ("0", 0), (" 7", 7), ("Sun, 06 Nov 1994 08:49:37 GMT", 37),
            ("Sun, 06 Nov 1994 08:48:00 GMT", 0),
        ])
    func retryAfter(value: String, seconds: Int) {
        #expect(RetryAfter.delay(value, now: 784_111_740) == .seconds(seconds))
    }

    @Test(
        "what is neither is ignored",
        arguments: ["", "-1", "soon", "Sun, 06 Nov 1994", "Sun, 40 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49 GMT"])
    func nonsense(value: String) { #expect(RetryAfter.delay(value, now: 0) == nil) }
}
