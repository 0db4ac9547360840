import Glibc

/// Runs blocking code, such as a sync to disk, on its own thread, so that it does not delay other Swift tasks.
enum OwnThread {
    /// Starts a thread.
    ///
    /// - Throws: `other` when the system allows no further thread.
    static func start(_ body: @escaping @Sendable () -> Void) throws(TransferError) {
        pthread_detach(try SystemThread.start(body))
    }

    /// Runs the body and waits for it; on this thread if the system allows no further one.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await Waiter<Value>.value { waiter in
            do {
                try start { waiter.resume(body()) }
                return nil
            } catch { return body() }
        }
    }
}
