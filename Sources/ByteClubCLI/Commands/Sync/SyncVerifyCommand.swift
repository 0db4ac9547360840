import ArgumentParser
import ByteClubCore

/// The command `byteclub sync verify [DIR]`.
struct SyncVerifyCommand: MirrorCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify every byte of a mirror against the server; changes nothing.",
        discussion: """
            Reads all files of the mirror, whatever their times, and gets the server's list. Changes since the last \
            sync are counted but not compared.

            Exit codes: 0 disk, mirror and server agree, 65 they differ.

            Examples:
              byteclub sync verify
              byteclub sync verify ~/club --json
            """)

    @OptionGroup var mirror: MirrorArgument
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context, with engine: any MirrorEngine.Type) async throws {
        let place = try MirrorPlace(mirror.directory, context)
        try place.requireSynced()
        let login = try context.login(flags: connection.settings)
        let configuration = try place.configuration(login, context)
        let display = ProgressMode.auto.display(context, json: outputOptions.json)
        // No progress in a log: the result is enough.
        let reporter = ProgressReporter(context, display: display == .live ? .live : .none, .comparison)
        let total = try engine.status(of: configuration).bytes
        let found = try await context.withRemote(login, .mirror) { remote in
            let engine = try engine.init(configuration: configuration, remote: remote)
            reporter.start("comparing", total: total)
            return try await reporter.following {
                try await engine.verify { reporter.update(TransferProgress(completed: $1, total: nil)) }
            }
        }
        try context.print(Verification(place.directory, found), json: outputOptions.json)
        if !found.isAgreed { throw Failure.silent(.badData) }
    }
}

/// The result of a comparison of disk, mirror and server.
struct Verification: CommandResult {
    /// A path at which two of the three differ.
    struct Difference: Encodable {
        var path: String
        var kind: String
        var detail: String
    }

    var directory: String
    var isAgreed: Bool
    var files: Int
    var folders: Int
    var bytes: Int64
    /// Entries with pending changes, which were not compared.
    var unsettled: Int
    /// Entries on the disk that cannot be synced or are excluded.
    var skipped: Int
    /// The first differences.
    var differences: [Difference]
    /// Whether the list of differences is truncated.
    var isCutShort: Bool

    init(_ directory: String, _ found: SyncVerification) {
        self.directory = directory
        (isAgreed, files, folders, bytes) = (found.isAgreed, found.files, found.folders, found.bytes)
        (unsettled, skipped) = (found.unsettled, found.skipped)
        differences = found.differences.map { Difference(path: $0.path, kind: $0.kind.rawValue, detail: $0.detail) }
        isCutShort = differences.count >= SyncVerification.maximumDifferences
    }

    func text(_ style: TextStyle) -> String {
        var lines = differences.map { "\($0.path): \($0.detail)" }
        if isCutShort { lines.append("and possibly more") }
        let compared = "\(counted(files, "file")) in \(counted(folders, "folder")), \(HumanSize.shown(bytes))"
        let verdict = isAgreed ? "disk, mirror and server agree" : counted(differences.count, "difference")
        lines.append("\(compared): \(verdict)")
        if unsettled > 0 {
            lines.append(
                "not compared: \(ActivityLine.grouped(unsettled)) changed or not synced yet; run 'byteclub sync' first"
            )
        }
        if skipped > 0 {
            lines.append("not synced: \(ActivityLine.grouped(skipped)) only on this disk; 'byteclub status' shows why")
        }
        return style.lines(lines)
    }

    private func counted(_ number: Int, _ noun: String) -> String {
        "\(ActivityLine.grouped(number)) \(noun)\(number == 1 ? "" : "s")"
    }
}
