import ArgumentParser
import ByteClubCore

/// `backup`: a consistent copy of a club's data; works whether or not the server runs.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Back up a club's data to a new directory, while the server runs or not.",
        discussion: """
            The copy contains everything stored before the command started, and is on disk when it ends. Each backup \
            needs a directory of its own, which must be empty. On the same file system large files are hard links, \
            not copies: put backups on another disk to survive the loss of this one.

            With --keep the target is a folder of backups, created if missing. Each backup is named by its start \
            time, as 2026-11-25T013000Z, shares large files with the previous one, and is verified; then the oldest \
            are removed. If it fails, the existing ones are kept.

            Examples:
              byteclub-server backup --data /srv/club /mnt/club
              byteclub-server backup --data /srv/club --keep 14 /mnt/backups
              byteclub-server restore --data /srv/new --from /mnt/backups/2026-11-25T013000Z
            """)

    @OptionGroup var data: DataOption
    @Option(help: ArgumentHelp("Create a dated backup in the target, and keep only this many.", valueName: "count"))
    var keep: Int?
    @Flag(help: "Print an object with path, bytes, shared bytes, and removed paths.")
    var json = false
    @Argument(help: "The directory to create, or with --keep the folder of dated backups.")
    var target: String

    func validate() throws {
        if target.isEmpty { throw ValidationError("the target is empty; name the directory to create") }
        if let keep, keep < 1 { throw ValidationError("--keep must be at least 1, not \(keep)") }
    }

    func run() async throws {
        let source = DataDirectory(path: data.data)
        guard let keep else {
            let copy = try source.copy(to: target, sharing: .original)
            if json { return StandardOutput.write(json: BackupSummary(path: target, copy: copy, removed: []).json()) }
            return StandardOutput.write(
                line: "\(target): the database and \(copy.contents) large files, \(copy.linked) of them hard links")
        }
        let now = APIDate(seconds: SystemTime.seconds())
        let summary = try await BackupFolder(path: target).add(source, keeping: keep, now: now)
        if json { return StandardOutput.write(json: summary.json()) }
        StandardOutput.write(line: summary.line)
    }
}

extension BackupSummary: JSONObjectWritable {
    /// The summary for people.
    var line: String {
        "\(path): \(HumanSize.shown(copy.bytes)), \(HumanSize.shown(copy.sharedBytes)) of it shared"
            + (removed.isEmpty ? "" : "; removed \(removed.joined(separator: ", "))")
    }

    func writeMembers(to json: inout JSONText) {
        json.member("path", path)
        json.member("bytes", copy.bytes)
        json.member("shared", copy.sharedBytes)
        json.member("removed", removed)
    }
}

/// `restore`: makes a data directory from a backup.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a data directory from a backup.",
        discussion: """
            The directory must be empty or missing; the backup stays unchanged. Clients of the original server notice \
            that its history starts over, and read the whole club again.
            """)

    @Option(help: ArgumentHelp("A directory created by backup.", valueName: "dir"))
    var from: String
    @Option(help: ArgumentHelp("The directory to create.", valueName: "dir"))
    var data: String

    func validate() throws {
        if data.isEmpty { throw ValidationError("--data is empty; name the directory to create") }
    }

    func run() async throws {
        _ = try DataDirectory(path: from).copy(to: data, sharing: .nothing)
        StandardOutput.write(line: "\(data): restored from \(from)")
    }
}
