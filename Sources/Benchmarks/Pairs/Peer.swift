import TestSupport

/// A program that is only measured beside: a run leaves out those that are not installed, and says so.
enum Peer: String, CaseIterable {
    case rclone, syncthing, unison, rsync, hyperfine

    var isInstalled: Bool { Program.system(rawValue) != nil }

    /// The flags with which rclone copies: without the pause of 10 ms before each WebDAV call, where it can do without.
    static func rcloneFlags() async -> [String] {
        guard let rclone = Program.system("rclone") else { return [] }
        let flags = try? await Program.run(rclone, ["help", "flags"])
        let isUnpaced = flags?.text.contains("--webdav-pacer-min-sleep") ?? false
        return ["--transfers", "4", "--ignore-times"] + (isUnpaced ? ["--webdav-pacer-min-sleep", "0"] : [])
    }

    /// A line about those that are left out; nil when there are none.
    static var missing: String? {
        let names = allCases.filter { !$0.isInstalled }.map(\.rawValue)
        return names.isEmpty ? nil : "(not installed, so left out: \(names.joined(separator: ", ")))"
    }
}
