public import ArgumentParser
public import ByteClubCore

/// The command `byteclub photos thumbnail NAME`.
struct PhotosThumbnailCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail",
        abstract: "Download a thumbnail of a photo and print the file's name.",
        discussion: """
            Sizes: xs 32×32, s 64×64, m 128×128, l 640×480, xl 1024×768. The thumbnail keeps the photo's aspect ratio \
            and fits into that box.

            Example:
              byteclub photos thumbnail ridge.jpg --size l -o ridge-small.jpg
            """)

    @Argument(help: "The photo's name.", completion: .names)
    var name: String

    @Option(help: "The size of the box that the thumbnail fits.")
    var size = ThumbnailSize.s

    @Option(help: "The image format.")
    var format = ThumbnailImageFormat.jpeg

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp("Write to this file; default: NAME-thumb.jpg, here.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    @OptionGroup var options: RemoteOptions

    func answer(_ login: Login, _ context: Context) async throws -> WrittenFile {
        let path = try EntryPath.photo(name, login)
        let file = try OutputFile(output ?? Self.fileName(path, format), isForced: force)
        let (size, format) = (size, format)
        let count = try await context.withRemote(login) { remote in
            do {
                let bytes = try await remote.thumbnail(of: path, size: size, format: format).bytes
                try await file.write { try LocalFile.createSynced($0, bytes, mode: 0o644) }
                return bytes.count
            } catch let error as RemoteError where error.code == .notFound {
                throw await EntryPath.refusal("photo", path, below: try login.photos, remote)
            } catch let error as RemoteError where error.code == .undecodable {
                throw Failure(.badData, "'\(path.name)' is not a photo that the server can read")
            }
        }
        return WrittenFile(file: file.path, bytes: Int64(count), source: path.string)
    }

    /// `ridge-thumb.jpg` for `ridge.jpg`.
    private static func fileName(_ path: RemotePath, _ format: ThumbnailImageFormat) -> String {
        NumberedName.split(path.name).stem + "-thumb" + (format == .jpeg ? ".jpg" : ".png")
    }
}

extension ThumbnailSize: ExpressibleByArgument {}

extension ThumbnailImageFormat: ExpressibleByArgument {}
