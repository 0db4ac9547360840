import Dispatch

/// Work that blocks a thread for long, kept off the threads that tasks share.
enum BlockingWork {
    /// Does the work on a thread of its own.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try work() })
            }
        }
    }
}
