import ByteClubCore
import Glibc

extension Checkup {
    /// The fewest inotify watches with which a larger mirror notices changes at once.
    static let watchConcern = 8192
    /// Free bytes below which a mirror may soon stop.
    static let diskConcern: Int64 = 1 << 30
    /// Free bytes below which downloads fail.
    static let diskLimit: Int64 = 32 << 20

    /// Whether the other programs are installed.
    func programs() -> Finding {
        var siblings = [SiblingProgram.mirror, .server].filter { sibling in
            sibling.candidates(context.environment, executable: context.executable)
                .contains { unsafe access($0, X_OK) == 0 }
        }.map(\.name)
        // A process with the engine is `byteclub-mirror` itself, which excludes its own file from the search.
        let mirror = SiblingProgram.mirror.name
        if context.engine != nil, !siblings.contains(mirror) { siblings.insert(mirror, at: 0) }
        let found = (["byteclub \(ByteClub.version)"] + siblings).joined(separator: ", ")
        if !siblings.contains(mirror) {
            return .warn("programs", found, "install byteclub-mirror beside 'byteclub' to use 'byteclub sync'")
        }
        return .ok("programs", found)
    }

    /// Whether the mirror that was synced last exists.
    func mirror() -> Finding {
        guard let place = try? MirrorPlace(nil, context) else {
            return .ok("mirror", "none; 'byteclub sync DIR' creates one")
        }
        let directory = Failure.line(place.directory)
        guard LocalFile.isDirectory(place.directory) else {
            return .fail(
                "mirror", "'\(directory)' is gone", "restore it, or create another with 'byteclub sync DIR'", .noInput)
        }
        guard unsafe access(place.directory, R_OK | W_OK | X_OK) == 0 else {
            return .fail(
                "mirror", "'\(directory)' is not readable and writable", "change its owner or mode", .inputOutput)
        }
        guard LocalFile.isDirectory(place.state) else {
            return .warn(
                "mirror", "'\(directory)' was never in sync",
                "run \(ShellWord.command("byteclub sync", place.directory))"
            )
        }
        return .ok("mirror", "'\(directory)' is readable and writable")
    }

    /// Whether the kernel allows enough watches for a mirror.
    func watches() -> Finding {
        guard let limit = MachineFacts.number(in: "/proc/sys/fs/inotify/max_user_watches"),
            let instances = MachineFacts.number(in: "/proc/sys/fs/inotify/max_user_instances")
        else {
            return .warn("watches", "the system's limits are unknown", "a mirror may notice changes late")
        }
        let text = "limits: \(limit) watched folders, \(instances) watching programs"
        if limit < Self.watchConcern || instances < 16 {
            return .warn(
                "watches", text, "raise fs.inotify.max_user_watches and max_user_instances with sysctl")
        }
        return .ok("watches", text)
    }

    /// Whether the disk of the mirror, else of the home directory, has free space.
    func disk() -> Finding {
        let place = (try? MirrorPlace(nil, context))?.directory
        let path = place.flatMap { LocalFile.isDirectory($0) ? $0 : nil } ?? context.environment["HOME"] ?? "/"
        guard let free = MachineFacts.freeBytes(path) else {
            return .warn("disk", "'\(Failure.line(path))' does not report its free space", "check it with df")
        }
        let text = "\(HumanSize.shown(free)) free at '\(Failure.line(path))'"
        if free < Self.diskLimit { return .fail("disk", text, "free some space", .inputOutput) }
        if free < Self.diskConcern { return .warn("disk", text, "free some space soon") }
        return .ok("disk", text)
    }
}
