/// Limits retries to a share of the requests, so that a failing server is not hit much harder than a healthy one.
struct RetryBudget: Sendable {
    private let perRequest: Double
    private let most: Double
    private var saved: Double

    init(_ policy: RetryPolicy) {
        perRequest = max(policy.budgetPerRequest, 0)
        most = max(policy.initialBudget, 1)
        saved = max(policy.initialBudget, 0)
    }

    mutating func earn() { saved = min(saved + perRequest, most) }

    /// Earns one retry, by an attempt that brought something.
    mutating func earnRetry() { saved = min(saved + 1, most) }

    /// Pays for one retry, if there is enough.
    mutating func spend() -> Bool {
        guard saved >= 1 else { return false }
        saved -= 1
        return true
    }
}
