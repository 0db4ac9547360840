import ArgumentParser

/// A command that does its work in a given context, so that a test may give another.
protocol ClubCommand: ParsableCommand, Sendable {
    /// Does the work: results to the context's output, a ``Failure`` or any error of a lower layer otherwise.
    func run(in context: Context) async throws
}
