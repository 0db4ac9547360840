import ArgumentParser
import ByteClubCore

/// The command `byteclub photos set-view NAME VIEW`.
struct PhotosSetViewCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-view", abstract: "Set how a photo is viewed, whatever its tags say.",
        discussion: """
            The view is stored in the note beside the photo that also has its caption; the photo itself stays \
            unchanged. 'auto' returns to the photo's tags and shape.

            Example:
              byteclub photos set-view hall.jpg sphere
            """)

    @Argument(help: "The photo's name.", completion: .names)
    var name: String

    @Argument(help: "The view: \(PhotoShape.Kind.words) or auto.")
    var view: PhotoView

    @OptionGroup var options: RemoteOptions

    func answer(_ login: Login, _ context: Context) async throws -> PhotoNoteResult {
        let path = try EntryPath.photo(name, login)
        let kind = view.kind
        let note = try await context.withRemote(login) { remote in
            var note = try await PhotoNote(ofExisting: path, remote)
            if note.caption.view != kind {
                note.caption.view = kind
                try await note.save(remote)
            }
            return note
        }
        let shown = kind?.rawValue ?? "its tags and shape suggest"
        let done = "'\(path.name(below: try login.photos))' is now shown as \(shown)"
        return PhotoNoteResult(photo: path, note: note, done: done)
    }
}

/// A photo's view as an argument.
struct PhotoView: Sendable, Hashable, ExpressibleByArgument {
    /// The kind; nil for the photo's own.
    var kind: PhotoShape.Kind?

    /// Reads a kind or `auto`.
    init?(argument: String) {
        kind = PhotoShape.Kind(rawValue: argument)
        if kind == nil, argument != "auto" { return nil }
    }

    static var allValueStrings: [String] { PhotoShape.Kind.allCases.map(\.rawValue) + ["auto"] }
}
