import ArgumentParser
import ByteClubCore

/// Does what `byteclub conflicts show PATH` asks for.
struct ConflictsShowCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show how the two texts of a conflict differ.",
        discussion: """
            Lines with '-' are in the entry that has the name, lines with '+' in the copy.

            Example:
              byteclub conflicts show plan.md
            """)

    @Argument(help: "The entry in the mirror, or its conflict copy.", completion: .file())
    var path: String

    @OptionGroup var mirrorOptions: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions
    var mirror: String? { mirrorOptions.mirror }
    var subject: String? { path }

    /// Both sides of a conflict.
    struct Answer: CommandResult {
        var conflict: SyncStatus.Conflict
        /// The unified difference; nil when one of the two is no text.
        var diff: String?

        func text(_ style: TextStyle) -> String {
            guard let diff else {
                return Failure.line("\(conflict.path) and \(conflict.copy) are no texts that can be compared")
            }
            // A carriage return and a newline are one character, but only the newline comes with the line that is
            // printed.
            return diff.isEmpty ? "both are equal" : String(diff.unicodeScalars.dropLast())
        }
    }

    func answer<Engine: MirrorEngine>(_: Engine.Type, of place: MirrorPlace, _ context: Context) throws -> Answer {
        let conflict = try SyncStatus.Conflict.find(
            try place.relative(path), in: try Engine.conflicts(of: place.configuration, all: false))
        let sides = [conflict.path, conflict.copy].map { place.directory + "/" + $0 }
        for side in sides where !LocalFile.exists(side) { throw Failure(.noInput, "'\(side)' is gone") }
        var diff: String?
        if try sides.allSatisfy({ try LocalFile.size($0) <= TextMerge.limit }) {
            diff = UnifiedDiff.text(
                from: try LocalFile.read(sides[0]), named: conflict.path, to: try LocalFile.read(sides[1]),
                named: conflict.copy)
        }
        return Answer(conflict: conflict, diff: diff)
    }
}
