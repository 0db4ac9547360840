import Glibc

/// A copy of a handle that this process has open, such as a program has that it is just starting.
public final class HandleCopy: Sendable {
    private let number: Int32

    /// Copies the handle on a file; nil when there is none.
    public init?(path: String) {
        for number in TestFile.names(in: "/proc/self/fd").compactMap(Int32.init) {
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = unsafe readlink("/proc/self/fd/\(number)", &target, target.count)
            guard count > 0, String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) == path
            else { continue }
            self.number = fcntl(number, F_DUPFD_CLOEXEC, 3)
            return
        }
        return nil
    }

    deinit { close(number) }
}
