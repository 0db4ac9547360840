/// A process that has a lock, and how a person ends it.
public struct LockHolder: Hashable, Sendable {
    /// The process's number.
    public let process: Int32
    /// The unit of ours that systemd runs it as; nil when it was started otherwise.
    public let unit: String?
    /// Whether that unit is one of a user's own systemd.
    public let isUserUnit: Bool

    /// Reads what a lock's file and the kernel tell; nil for a file that names no process.
    ///
    /// - Parameters:
    ///   - lock: The file's text: a word and the process's number.
    ///   - controlGroups: Gives the text of `/proc/…/cgroup` of a process (cgroups(7)); nil when that cannot be read.
    public init?(lock: String, controlGroups: (Int32) -> String?) {
        guard let process = lock.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int32($0) }),
            process > 1
        else { return nil }
        self.process = process
        let path = controlGroups(process)?.split(separator: "\n").last.map(String.init) ?? ""
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        unit = last.hasPrefix("byteclub") && last.hasSuffix(".service") ? last : nil
        isUserUnit = path.contains("/user@")
    }

    /// The command that ends it.
    public var ending: String {
        unit.map { "systemctl \(isUserUnit ? "--user " : "")stop '\($0)'" } ?? "kill \(process)"
    }
}
