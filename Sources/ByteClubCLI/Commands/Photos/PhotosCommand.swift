import ArgumentParser

/// Does what `byteclub photos …` asks for.
struct PhotosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photos",
        abstract: "Upload, download and list panorama photos.",
        discussion: """
            Photos are the JPEG files in the folder 'photos' of the shared folder; its subfolders are albums. Photos \
            are stored unchanged unless --quality or --strip-gps is given.

            Examples:
              byteclub photos upload *.jpg --limit-rate 500K
              byteclub photos show ridge.jpg
              byteclub photos thumbnail ridge.jpg --size l -o small.jpg
            """,
        subcommands: [
            PhotosListCommand.self, PhotosAlbumsCommand.self, PhotosShowCommand.self, PhotosOpenCommand.self,
            PhotosUploadCommand.self, PhotosDownloadCommand.self, PhotosThumbnailCommand.self, PhotosInfoCommand.self,
            PhotosCaptionCommand.self, PhotosSetViewCommand.self, PhotosMoveCommand.self, PhotosRemoveCommand.self,
            PhotosHistoryCommand.self, PhotosRestoreCommand.self,
        ])
}
