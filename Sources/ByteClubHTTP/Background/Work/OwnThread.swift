import Glibc

/// Runs what blocks, such as a sync to disk, on a thread of its own, so that other Swift tasks go on.
enum OwnThread {
    /// Runs it and waits for it.
    ///
    /// Where the system allows no further thread it runs here.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await Waiter<Value>.value { waiter in
            guard let thread = try? SystemThread.start({ waiter.resume(body()) }) else { return body() }
            pthread_detach(thread)
            return nil
        }
    }
}
