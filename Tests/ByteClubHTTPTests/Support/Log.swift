import Glibc
import Synchronization

/// Events in order, recorded from any thread.
final class Log<Entry: Sendable>: Sendable {
    private let all = Mutex<[Entry]>([])
    private let changes = Changes()

    var entries: [Entry] { all.withLock { $0 } }

    func add(_ entry: Entry) {
        all.withLock { $0.append(entry) }
        changes.notify()
    }

    /// Returns once the entries are as wanted.
    func wait(until condition: @Sendable ([Entry]) -> Bool) async { await changes.wait { condition(self.entries) } }
}

/// Whether the calling thread is one that `withSession` gave to a session.
var isOnSessionThread: Bool {
    let file = unsafe open("/proc/thread-self/comm", O_RDONLY)
    defer { close(file) }
    var name = [UInt8](repeating: 0, count: 16)
    let count = unsafe read(file, &name, name.count)
    return name.prefix(max(count, 0)).elementsEqual("test\n".utf8)
}
