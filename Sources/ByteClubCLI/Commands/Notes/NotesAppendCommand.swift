import ArgumentParser
import ByteClubCore

/// The command `byteclub notes append NAME [TEXT...]`.
struct NotesAppendCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "append",
        abstract: "Append lines to a note; a new one if there is none.",
        discussion: """
            Appends the given words, else standard input, starting on a new line. Text that somebody else saves at \
            the same time is kept.

            Examples:
              byteclub notes append diary.md We meet at seven
              date | byteclub notes append diary.md
            """)

    /// How often to retry after another member's change.
    private static let tries = 16

    @Argument(help: "The note's name.", completion: .names)
    var name: String

    @Argument(help: "The text; standard input if omitted.")
    var text: [String] = []

    @OptionGroup var options: RemoteOptions

    func answer(_ login: Login, _ context: Context) async throws -> EntryChange {
        let path = try EntryPath.newNote(name, login)
        let added = Array((text.joined(separator: " ") + "\n").utf8)
        let lines = text.isEmpty ? try context.input.readAll(NoteContent.limit) : added
        let stored = try await context.withRemote(login) { try await Self.append(lines, to: path, $0) }
        return EntryChange(verb: "saved", entry: stored, folder: login.notes)
    }

    private static func append(_ lines: [UInt8], to path: RemotePath, _ remote: any Remote) async throws -> Metadata {
        for attempt in 1... {
            let note = try await NoteContent.fetch(path, remote)
            var whole = note?.bytes ?? []
            if let last = whole.last, last != UInt8(ascii: "\n") { whole.append(UInt8(ascii: "\n")) }
            whole += lines
            do {
                return try await remote.put(
                    .bytes(whole), at: note?.metadata.path ?? path,
                    condition: note?.metadata.rev.map { WriteCondition.parent($0) } ?? .create, policy: .fail,
                    progress: nil)
            } catch {
                // Another member has changed the note: append to the new text.
                guard error.code == .conflict, attempt < tries else { throw error }
            }
        }
        throw Failure(.tryAgain, "'\(path.name)' keeps changing; try again")
    }
}
