import Glibc

/// Which start of the machine this is: until the next one, what a program has written is there, synced or not.
enum MachineStart {
    /// What this start is called (random(4)); empty where that cannot be told.
    static let present: String = {
        let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 36)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return count == bytes.count ? String(decoding: bytes, as: UTF8.self) : ""
    }()

    /// Whether a start that was noted is this one.
    static func isPresent(_ start: String) -> Bool { !start.isEmpty && start == present }
}
