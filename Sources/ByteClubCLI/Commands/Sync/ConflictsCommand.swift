import ArgumentParser
import ByteClubCore

/// The command `byteclub conflicts …`.
struct ConflictsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List, show and resolve conflicts.",
        discussion: """
            Both versions are kept when an entry was changed on two sides at once, or when two names differ only in \
            letter case or Unicode composition, which the server treats as one name.

            Examples:
              byteclub conflicts
              byteclub conflicts show plan.md
              byteclub conflicts resolve plan.md --keep mine
            """,
        subcommands: [ConflictsListCommand.self, ConflictsShowCommand.self, ConflictsResolveCommand.self],
        defaultSubcommand: ConflictsListCommand.self)
}

/// The command `byteclub conflicts list`.
struct ConflictsListCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List unresolved conflicts, newest first.",
        discussion: """
            MEMBER is the author of the copy's content. To a pipe or file, prints time, member, path, copy and state, \
            separated by tabs.

            Example:
              byteclub conflicts list --all --json
            """)

    @Flag(help: "List resolved conflicts as well.")
    var all = false

    @OptionGroup var mirror: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions

    /// The conflicts of a mirror.
    struct Answer: CommandResult {
        var directory: String
        var conflicts: [SyncStatus.Conflict]
        var isVisible: Bool { true }

        func text(_ style: TextStyle) -> String {
            if conflicts.isEmpty { return "no conflicts" }
            var table = TextTable(
                .init("TIME", rank: 3), .init("PATH", isShortened: true), .init("COPY", isShortened: true),
                .init("STATE", rank: 1), .init("MEMBER", rank: 2))
            table.rows = conflicts.map {
                let state = [
                    $0.isResolved ? "resolved" : $0.isElsewhere ? "from another machine" : nil,
                    $0.holder.map { "the server treats it as '\($0)'" },
                ].compactMap(\.self)
                return [style.time($0.at), $0.path, $0.copy, state.joined(separator: "; "), style.member($0.member)]
            }
            return style.list(table)
        }
    }

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> Answer {
        Answer(directory: place.directory, conflicts: try engine.conflicts(of: place.configuration, all: all))
    }
}

extension SyncStatus.Conflict {
    /// The author of the copy for people, as in `bo's copy`.
    var owner: String { member.map { "\($0)'s copy" } ?? "copy" }

    /// Finds the conflict with an original or a copy at a path.
    ///
    /// - Throws: ``Failure`` when there is none, and when the original has several.
    static func find(_ path: String, in conflicts: [Self]) throws -> Self {
        let found = conflicts.filter { $0.copy == path }
        let named = found.isEmpty ? conflicts.filter { $0.path == path || $0.holder == path } : found
        guard let first = named.first else { throw Failure(.noInput, "'\(path)' has no conflict") }
        if named.count > 1 {
            let copies = named.map { "'\($0.copy)'" }.joined(separator: ", ")
            throw Failure(.badData, "'\(path)' has \(named.count) conflicts; give one of the copies: \(copies)")
        }
        return first
    }
}
