import ArgumentParser
import ByteClubCore

/// Does what `byteclub conflicts resolve PATH --keep SIDE` asks for.
struct ConflictsResolveCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Resolve a conflict: keep this machine's content, the other one, or both.",
        discussion: """
            'mine' is what is in the conflict copy, 'theirs' is what has the name, 'both' leaves the files as they are; \
            of a conflict that arose on another machine 'mine' is what has the name and 'theirs' the copy. A file that \
            has the name keeps its spelling and its history; a folder is replaced by the other one. \
            What is not kept goes into the trash in the mirror; the next sync, or the one that runs, does the same on \
            the server.

            Example:
              byteclub conflicts resolve plan.md --keep mine
            """)

    @Argument(help: "The entry in the mirror, or its conflict copy.", completion: .names)
    var path: String

    @Option(help: "What is kept.")
    var keep: KeptSide

    @OptionGroup var mirrorOptions: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions
    var mirror: String? { mirrorOptions.mirror }
    var subject: String? { path }

    /// What was settled.
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
            case (.copy, .mine): Failure.line("\(path) has this machine's content now")
            case (.copy, _): Failure.line("\(path) has the copy's content now")
            case (.name, _): Failure.line("\(path) stays as it is; the copy is in the trash")
            case (.both, _): Failure.line("\(path) and \(copy) both stay")
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

/// Which content of a conflict is kept, as it is typed.
enum KeptSide: String, ExpressibleByArgument, CaseIterable {
    case mine, theirs, both

    /// As the engine calls it.
    var side: ConflictSide {
        switch self {
        case .mine: .mine
        case .theirs: .theirs
        case .both: .both
        }
    }

    /// The same for a conflict: of one that arose elsewhere this machine's content is what has the name.
    func side(of conflict: SyncStatus.Conflict) -> ConflictSide {
        switch self {
        case .mine: conflict.isElsewhere ? .theirs : .mine
        case .theirs: conflict.isElsewhere ? .mine : .theirs
        case .both: .both
        }
    }
}
