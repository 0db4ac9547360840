/// What became of several things that were to be done one by one.
struct BatchOutcome<Value: Sendable>: Sendable {
    /// What was done.
    var done: [Value] = []
    /// Why the others were not.
    var failures: [Failure] = []

    /// What the shell is told: the one reason when nothing was done for one reason, 75 when something was done.
    var status: ExitStatus {
        guard let first = failures.first else { return .success }
        return done.isEmpty && failures.allSatisfy { $0.status == first.status } ? first.status : .tryAgain
    }

    /// Tells the failures and ends with the status.
    func finish(_ context: Context) throws {
        for failure in failures { context.note(failure.message) }
        if status != .success { throw Failure.silent(status) }
    }
}
