/// What became of several things that were to be done one by one.
struct BatchOutcome<Value: Sendable>: Sendable {
    /// What was done.
    var done: [Value] = []
    /// Why the others were not.
    var failures: [Failure] = []
    /// How many were not tried, since they would have failed for the reason of the last failure.
    var skipped = 0

    /// What the shell is told: the one reason when nothing was done for one reason, 75 when something was done.
    var status: ExitStatus {
        guard let first = failures.first else { return .success }
        return done.isEmpty && failures.allSatisfy { $0.status == first.status } ? first.status : .tryAgain
    }

    /// Takes the failure after which nothing else is tried.
    ///
    /// - Parameters:
    ///   - failure: Why one of them was not done.
    ///   - rest: How many were not done for this reason, that one among them.
    ///   - noun: What one is called, as in `photo`.
    ///   - verb: What was not done, as in `uploaded`.
    mutating func end(_ failure: Failure, rest: Int, _ noun: String, not verb: String) {
        failures.append(failure.forAll(rest, noun, not: verb))
        skipped = max(0, rest - 1)
    }

    /// Tells the failures and ends with the status.
    func finish(_ context: Context) throws {
        for failure in failures { context.note(failure.message) }
        if status != .success { throw Failure.silent(status) }
    }
}
