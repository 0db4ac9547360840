import ArgumentParser
import ByteClubCore

/// The command `byteclub mirrors`.
struct MirrorsCommand: MirrorCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirrors",
        abstract: "List the mirrors on this machine, with their status.",
        discussion: """
            Example:
              byteclub mirrors --json
            """)

    @OptionGroup var outputOptions: OutputOptions

    /// The state of one mirror.
    struct Mirror: Encodable {
        var directory: String
        /// Its folder on the server; nil before its first sync.
        var folder: String?
        /// Whether the directory exists.
        var exists: Bool
        /// Nil when its database cannot be read.
        var status: SyncStatus?

        /// The state in words, the most important first.
        fileprivate var words: String {
            guard exists else { return "gone" }
            guard let status else { return "database not readable" }
            guard status.isKnown else { return "never synced" }
            var words: [String] = []
            if status.obstacle != nil { words.append("blocked") }
            if status.isPaused { words.append("paused") }
            if status.waitsForUnmetered { words.append(NetworkCost.waiting) }
            let counts = [
                (status.pending, "pending"), (status.held.count, "held"), (status.conflicts.count, "in conflict"),
                (status.problems.count, "skipped"),
            ]
            words += counts.filter { $0.0 > 0 }.map { "\(ActivityLine.grouped($0.0)) \($0.1)" }
            if words.isEmpty { words.append(status.lastSync == nil ? "not fully synced yet" : "in sync") }
            return words.joined(separator: ", ")
        }
    }

    /// The mirrors, by their paths.
    struct Result: CommandResult {
        var mirrors: [Mirror]
        var isVisible: Bool { true }

        func text(_ style: TextStyle) -> String {
            if mirrors.isEmpty { return "no mirrors; 'byteclub sync DIR' creates one" }
            var table = TextTable(
                .init("MIRROR", isShortened: true), .init("STATE", isShortened: true), .init("SYNC", rank: 2),
                .init("LAST SYNCED", rank: 1))
            table.rows = mirrors.map { mirror in
                let sync = mirror.status?.isRunning == true ? "runs" : ""
                return [mirror.directory, mirror.words, sync, style.time(mirror.status?.lastSync)]
            }
            return style.list(table)
        }

        func encode(to encoder: any Encoder) throws { try mirrors.encode(to: encoder) }
    }

    func run(in context: Context, with engine: any MirrorEngine.Type) async throws {
        let mirrors = try MirrorRegistry(context).mirrors.map { directory in
            let place = try MirrorPlace(directory, context)
            return Mirror(
                directory: directory, folder: place.boundFolder?.string, exists: LocalFile.isDirectory(directory),
                status: try? engine.status(of: place.configuration))
        }
        try context.print(Result(mirrors: mirrors), json: outputOptions.json)
    }
}
