import Glibc
import Synchronization

@testable import ByteClubHTTP

/// A file system of one megabyte, where the test may mount one.
final class SmallDisk {
    let folder = TemporaryFolder()

    static var isPossible: Bool { SmallDisk() != nil }

    init?() {
        guard unsafe mount("byteclub-test", folder.path, "tmpfs", 0, "size=1m") == 0 else { return nil }
    }

    deinit { unsafe umount2(folder.path, Int32(MNT_DETACH)) }
}

/// The newest progress a callback was given.
final class LastProgress: Sendable {
    private let all = Mutex<[TaskProgress]>([])

    func set(_ progress: TaskProgress) { all.withLock { $0.append(progress) } }

    var value: TaskProgress? { all.withLock { $0.last } }
    var values: [TaskProgress] { all.withLock { $0 } }
}
