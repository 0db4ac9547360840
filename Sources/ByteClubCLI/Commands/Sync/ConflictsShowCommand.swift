import ArgumentParser
import ByteClubCore

/// The command `byteclub conflicts show PATH`.
struct ConflictsShowCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the difference between the two texts of a conflict.",
        discussion: """
            Lines with '-' are in the entry with the original name, lines with '+' in the copy. For folders, lists \
            the entries that only one of them has and the files that differ.

            Example:
              byteclub conflicts show plan.md
            """)

    @Argument(help: "The entry in the mirror, or its conflict copy.", completion: .names)
    var path: String

    @OptionGroup var mirror: MirrorOptions
    @OptionGroup var outputOptions: OutputOptions
    var subject: String? { path }

    /// Both sides of a conflict.
    struct Answer: CommandResult {
        var conflict: SyncStatus.Conflict
        /// The unified diff, for folders that of their contents; nil when one of the two is not text.
        var diff: String?

        func text(_ style: TextStyle) -> String {
            guard let diff else {
                return Failure.line("\(conflict.entry) and \(conflict.copy) are not texts and cannot be compared")
            }
            // Swift treats CRLF as one character, but only the final newline is printed again.
            return diff.isEmpty ? "no differences" : String(diff.unicodeScalars.dropLast())
        }
    }

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> Answer {
        let conflict = try SyncStatus.Conflict.find(
            try place.relative(path), in: try engine.conflicts(of: place.configuration, all: false))
        let sides = [conflict.entry, conflict.copy].map { place.directory + "/" + $0 }
        for side in sides where !LocalFile.exists(side) { throw Failure(.noInput, "'\(side)' is gone") }
        let contents = try sides.allSatisfy(LocalFile.isDirectory) ? sides.map(Self.listing) : Self.texts(sides)
        let diff = contents.flatMap {
            UnifiedDiff.text(from: $0[0], named: conflict.entry, to: $0[1], named: conflict.copy)
        }
        return Answer(conflict: conflict, diff: diff)
    }

    /// The contents of two files; nil when one is missing or too large to compare.
    private static func texts(_ files: [String]) throws -> [[UInt8]]? {
        if files.contains(where: LocalFile.isDirectory) { return nil }
        guard try files.allSatisfy({ try LocalFile.size($0) <= TextMerge.limit }) else { return nil }
        return try files.map { try LocalFile.read($0) }
    }

    /// A line for each folder and file in a folder, with sizes and hashes of files.
    private static func listing(of folder: String) throws -> [UInt8] {
        var lines: [String] = []
        var rest = [""]
        while let path = rest.popLast() {
            for name in LocalFile.names(in: folder + "/" + path) {
                let (shown, file) = (path + name, folder + "/" + path + name)
                if LocalFile.isLink(file) { continue }
                if LocalFile.isDirectory(file) {
                    rest.append(shown + "/")
                    lines.append(shown + "/")
                } else if let size = try? LocalFile.size(file) {
                    let hash = try LocalFile.hash(file).hash
                    lines.append("\(shown)  \(HumanSize.shown(size))  \(hash.description.prefix(8))")
                }
            }
        }
        return Array(lines.sorted().map { $0 + "\n" }.joined().utf8)
    }
}
