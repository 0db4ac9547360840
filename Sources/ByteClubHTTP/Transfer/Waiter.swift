/// A waiter for a value, which is resumed exactly once.
///
/// Safe to pass around: whoever takes a waiter out of its list, under the list's lock, resumes it after unlocking.
@safe
struct Waiter<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Value, Never>

    /// Waits for the value; `register` stores the waiter, or answers with a value that is there already.
    static func value(_ register: (Waiter) -> Value?) async -> Value {
        await unsafe withUnsafeContinuation { continuation in
            let waiter = unsafe Waiter(continuation: continuation)
            if let value = register(waiter) { waiter.resume(value) }
        }
    }

    func resume(_ value: Value) { unsafe continuation.resume(returning: value) }
}

extension Waiter where Value == Void {
    func resume() { resume(()) }
}
