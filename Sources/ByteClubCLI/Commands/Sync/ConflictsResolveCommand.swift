public import ArgumentParser
public import ByteClubCore

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
    var keep: ConflictSide

    @OptionGroup var mirror: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions
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

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> Answer {
        let conflict = try SyncStatus.Conflict.find(
            try place.relative(path), in: try engine.conflicts(of: place.configuration, all: false))
        let side = keep.side(of: conflict)
        try engine.resolve(conflict, keeping: side, of: place.configuration)
        let kept: Answer.Kept =
            switch side {
            case .mine: .copy
            case .theirs: .name
            case .both: .both
            }
        return Answer(path: conflict.entry, copy: conflict.copy, kept: keep, content: kept)
    }
}

extension ConflictSide: ExpressibleByArgument {
    /// The engine's value: in a conflict that arose on another machine, this machine's content has the name.
    fileprivate func side(of conflict: SyncStatus.Conflict) -> ConflictSide {
        switch self {
        case .mine: conflict.isElsewhere ? .theirs : .mine
        case .theirs: conflict.isElsewhere ? .mine : .theirs
        case .both: .both
        }
    }
}
