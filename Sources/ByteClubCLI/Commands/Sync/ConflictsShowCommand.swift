import ArgumentParser
import ByteClubCore

/// Does what `byteclub conflicts show PATH` asks for.
struct ConflictsShowCommand: MirrorCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show how the two texts of a conflict differ.",
        discussion: """
            Lines with '-' are in the entry that has the name, lines with '+' in this machine's copy.

            Example:
              byteclub conflicts show plan.md
            """)

    @Argument(help: "The entry in the mirror, or its conflict copy.", completion: .file())
    var path: String

    @OptionGroup var mirrorOptions: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions

    /// Both sides of a conflict.
    struct Result: CommandResult {
        var conflict: SyncStatus.Conflict
        /// The unified difference; nil when one of the two is no text.
        var diff: String?

        func text(_ style: TextStyle) -> String {
            guard let diff else { return "\(conflict.path) and \(conflict.copy) are no texts that can be compared" }
            return diff.isEmpty ? "both are equal" : String(diff.dropLast())
        }
    }

    func run<Engine: MirrorEngine>(in context: Context, with _: Engine.Type) async throws {
        let place = try MirrorPlace(mirrorOptions.mirror, context)
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
        try context.print(Result(conflict: conflict, diff: diff), json: outputOptions.json)
    }
}
