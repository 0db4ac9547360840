import ArgumentParser
import ByteClubCore

/// The command `byteclub notes add NAME [FILE]`.
struct NotesAddCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a note from a file or from standard input.",
        discussion: """
            An existing note is kept unless --force is given. The note keeps the file's date.

            Examples:
              byteclub notes add trip.md ~/trip.md
              date | byteclub notes add now.txt --force
            """)

    @Argument(help: "The note's name.", completion: .names)
    var name: String

    @Argument(help: "The file; standard input if omitted or '-'.", completion: .file())
    var file: String?

    @Flag(help: "Replace an existing note; its old text stays in the history.")
    var force = false

    @OptionGroup var progressOptions: ProgressOptions
    @OptionGroup var options: RemoteOptions

    /// The bytes from which the progress of an upload is shown.
    private static let large = 1 << 20

    func answer(_ login: Login, _ context: Context) async throws -> EntryChange {
        let path = try EntryPath.newNote(name, login)
        let (text, modified, isExecutable) = try read(context)
        if Self.isPhoto(text) {
            let what = file.map { $0 == "-" ? "standard input" : "'\($0)'" } ?? "standard input"
            throw Failure(.badData, "\(what) is a photo, not a note; use 'byteclub photos upload'")
        }
        let isForced = force
        // A small note is stored before anyone could read its progress.
        let isLarge = text.count >= Self.large || progressOptions.progress == .json
        let reporter = ProgressReporter(
            context, display: isLarge ? progressOptions.progress.display(context, json: options.output.json) : .none,
            .saving)
        return try await context.withRemote(login, mayTakeLong: isLarge) { remote in
            func put(_ condition: WriteCondition) async throws -> Metadata {
                reporter.start(path.name, path: path.string, total: Int64(text.count))
                let stored = try await remote.put(
                    .bytes(text), at: path, modified: modified, executable: isExecutable, condition: condition,
                    policy: .fail, progress: reporter.update)
                reporter.finish()
                return stored
            }
            return try await reporter.following {
                do {
                    return EntryChange(verb: "added", entry: try await put(.create), folder: login.notes)
                } catch let error as RemoteError where error.code == .conflict {
                    if isForced {
                        return EntryChange(verb: "replaced", entry: try await put(.overwrite), folder: login.notes)
                    }
                    // It may exist with different case.
                    let there = (try? await remote.metadata(at: path))?.path ?? path
                    let name = there.name(below: login.notes)
                    throw Failure(.cannotCreate, "the note '\(name)' already exists; use --force to replace it")
                }
            }
        }
    }

    /// Whether bytes begin as a JPEG does.
    private static func isPhoto(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0xFF, 0xD8, 0xFF]) }

    /// The text, its file's modification time, and whether the file is executable.
    private func read(_ context: Context) throws -> ([UInt8], FileTime?, Bool?) {
        guard let file, file != "-" else {
            if context.terminal.isInputTerminal {
                context.note("reading the note from the terminal; end with Ctrl-D")
            }
            return (try context.input.readAll(NoteContent.limit), nil, nil)
        }
        if LocalFile.isDirectory(file) { throw Failure(.badData, "'\(file)' is a directory, not a note") }
        return (
            try LocalFile.read(file, limit: NoteContent.limit), try LocalFile.modified(file),
            try LocalFile.isExecutable(file)
        )
    }
}
