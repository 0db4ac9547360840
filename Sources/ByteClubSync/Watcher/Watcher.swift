import CLinux
import Glibc
import Synchronization

/// Tells which folders may have changed; events are hints and never truth.
final class Watcher: Sendable {
    /// What an event says.
    enum Change: Sendable {
        /// Something in these folders, by their paths on disk.
        case folders(Set<String>)
        /// Events were lost: anything may have changed.
        case unknown
        /// The system refuses to watch more folders; the line says what to do.
        case degraded(String)
    }

    private let inotify: FileDescriptor
    private let stopper: FileDescriptor
    private let folders = Mutex<[Int32: String]>([:])
    private let isDegraded = Mutex(false)
    private let tell: @Sendable (Change) -> Void

    private static let mask = UInt32(
        IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ONLYDIR | IN_EXCL_UNLINK)

    /// Starts watching on a thread of its own; `tell` is called there.
    init(_ tell: @escaping @Sendable (Change) -> Void) throws(FileError) {
        self.tell = tell
        let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard number >= 0 else { throw FileError(operation: "watch", path: "the mirror", code: errno) }
        inotify = FileDescriptor(owning: number, path: "inotify")
        let event = eventfd(0, Int32(EFD_CLOEXEC))
        guard event >= 0 else { throw FileError(operation: "watch", path: "the mirror", code: errno) }
        stopper = FileDescriptor(owning: event, path: "event descriptor")
        let code = Thread.start { [self] in run() }
        if code != 0 { throw FileError(operation: "start", path: "thread", code: code) }
    }

    /// Ends the thread.
    func stop() {
        var one: UInt64 = 1
        _ = unsafe write(stopper.number, &one, 8)
    }

    /// Watches a folder, before it is listed; watching it again under another path is right.
    func add(_ folder: FileDescriptor, _ path: String) {
        let watch = folders.withLock { folders in
            let watch = unsafe inotify_add_watch(inotify.number, "/proc/self/fd/\(folder.number)", Self.mask)
            if watch >= 0 { folders[watch] = path }
            return watch
        }
        guard watch < 0 else { return }
        let code = errno
        let isFirst = isDegraded.withLock { isDegraded in
            defer { isDegraded = true }
            return !isDegraded
        }
        guard isFirst else { return }
        let remedy =
            code == ENOSPC
            ? "raise the limit with 'sysctl fs.inotify.max_user_watches=1048576'"
            : FileError(operation: "watch", path: path, code: code).reason
        tell(.degraded("not all folders can be watched, so changes are looked for every 10 s: \(remedy)"))
    }

    private func run() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var waits = [
                pollfd(fd: inotify.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stopper.number, events: Int16(POLLIN), revents: 0),
            ]
            let ready = unsafe poll(&waits, 2, -1)
            if ready < 0, errno != EINTR { return }
            if waits[1].revents != 0 { return }
            let count = unsafe read(inotify.number, &buffer, buffer.count)
            if count > 0 { take(buffer.prefix(count)) }
        }
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        var changed: Set<String> = []
        var isLost = false
        let header = MemoryLayout<inotify_event>.size
        unsafe bytes.withUnsafeBytes { all in
            var offset = 0
            while offset + header <= all.count {
                let event = unsafe all.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                offset += header + Int(event.len)
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isLost = true }
                folders.withLock { folders in
                    if let path = folders[event.wd] { changed.insert(path) }
                    if event.mask & UInt32(IN_IGNORED) != 0 { folders[event.wd] = nil }
                }
            }
        }
        if isLost { tell(.unknown) } else if !changed.isEmpty { tell(.folders(changed)) }
    }
}
