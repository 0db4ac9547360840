import Synchronization

/// Lets one consumer sleep until there is something for it.
final class Wakeup: Sendable {
    private struct State {
        var isDue = false
        var waiter: Waiter<Void>?
    }

    private let state = Mutex(State())

    /// Ends the sleep, or the next one when nobody sleeps.
    func wake() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            state.isDue = state.waiter == nil
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns once ``wake()`` was called since the last sleep, the Swift task is cancelled, or somebody else sleeps.
    func sleep() async {
        await withTaskCancellationHandler {
            await Waiter<Void>.value { waiter in
                let former = state.withLock { state -> Waiter<Void>? in
                    if state.isDue || Task.isCancelled {
                        state.isDue = false
                        return waiter
                    }
                    defer { state.waiter = waiter }
                    return state.waiter
                }
                former?.resume()
                return nil
            }
        } onCancel: {
            wake()
        }
    }
}
