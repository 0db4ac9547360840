import TestSupport

/// A program that is only measured beside: a run leaves out those that are not installed, and says so.
enum Peer: String, CaseIterable {
    case rclone, syncthing, unison, rsync, hyperfine

    var isInstalled: Bool { Program.system(rawValue) != nil }

    /// A line about those that are left out; nil when there are none.
    static var missing: String? {
        let names = allCases.filter { !$0.isInstalled }.map(\.rawValue)
        return names.isEmpty ? nil : "(not installed, so left out: \(names.joined(separator: ", ")))"
    }
}
