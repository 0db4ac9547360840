import ArgumentParser
import ByteClubCore

/// The command `byteclub conflicts resolve PATH --keep SIDE`.
struct ConflictsResolveCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Resolve a conflict: keep this machine's content, the other one, or both.",
        discussion: """
            'mine' is the content of the conflict copy, 'theirs' the content under the original name; 'both' keeps \
            the files as they are. For a conflict from another machine it is the other way round: 'mine' is the \
            content under the original name, 'theirs' the copy. A file under the original name keeps its spelling and \
            history; a folder is replaced. The side that is not kept goes to the mirror's trash; the next sync, or a \
            running one, does the same on the server.

            Example:
              byteclub conflicts resolve plan.md --keep mine
            """)

    @Argument(help: "The entry in the mirror, or its conflict copy.", completion: .names)
    var path: String

    @Option(help: "The side to keep.")
    var keep: KeptSide

    @OptionGroup var mirrorOptions: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions
    var mirror: String? { mirrorOptions.mirror }
    var subject: String? { path }

    /// The resolved conflicts.
    struct Answer: CommandResult {
        var path: String
        var copy: String
        var kept: ConflictSide
        var content: Kept

        /// Which file's content is kept.
        enum Kept: String, Encodable {
            case copy, name, both
        }

        func text(_ style: TextStyle) -> String {
            switch (content, kept) {
            case (.copy, .mine): Failure.line("\(path) now has this machine's content")
            case (.copy, _): Failure.line("\(path) now has the copy's content")
            case (.name, _): Failure.line("\(path) is unchanged; the copy is in the trash")
            case (.both, _): Failure.line("kept both \(path) and \(copy)")
            }
        }
    }

    func answer<Engine: MirrorEngine>(_: Engine.Type, of place: MirrorPlace, _ context: Context) throws -> Answer {
        let conflict = try SyncStatus.Conflict.find(
            try place.relative(path), in: try Engine.conflicts(of: place.configuration, all: false))
        try Engine.resolve(conflict, keeping: keep.side(of: conflict), of: place.configuration)
        let kept: Answer.Kept =
            switch keep.side(of: conflict) {
            case .mine: .copy
            case .theirs: .name
            case .both: .both
            }
        return Answer(path: conflict.entry, copy: conflict.copy, kept: keep.side, content: kept)
    }
}

/// The side of a conflict to keep, as typed.
enum KeptSide: String, ExpressibleByArgument, CaseIterable {
    case mine, theirs, both

    /// The engine's value.
    var side: ConflictSide {
        switch self {
        case .mine: .mine
        case .theirs: .theirs
        case .both: .both
        }
    }

    /// The same for a conflict: in one that arose on another machine, this machine's content has the name.
    func side(of conflict: SyncStatus.Conflict) -> ConflictSide {
        switch self {
        case .mine: conflict.isElsewhere ? .theirs : .mine
        case .theirs: conflict.isElsewhere ? .mine : .theirs
        case .both: .both
        }
    }
}
