import Glibc

/// Lets threads wait until something becomes true that another thread changes.
@safe final class Changed: @unchecked Sendable {
    // Both are used as pthread_cond_wait(3) says, and live as long as this object, which owns them alone.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Says that something changed.
    func tell() {
        unsafe pthread_mutex_lock(mutex)
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Blocks until there is a value; it is looked for after each change.
    func wait<Value>(_ value: () -> Value?) -> Value {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let value = value() { return value }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }
}
