import ByteClubCore
import ByteClubMedia
import Glibc

/// Draws the server's photos in the terminal.
struct PhotoShow: Sendable {
    /// The largest photo to download for `--view`.
    static let mostBytes: Int64 = 64 << 20

    let context: Context
    let remote: any Remote
    /// The folder that names are relative to.
    let folder: RemotePath
    let canvas: PictureCanvas
    /// Reports the progress of photos that are downloaded completely.
    let reporter: ProgressReporter

    /// Draws the server's thumbnail of a photo below its name.
    func show(_ path: RemotePath) async throws {
        try await draw(path, .xl, canvas) { metadata in
            context.style.emphasized(Failure.line(metadata.path.name(below: folder)))
        }
    }

    /// Prints a list with a picture below each line.
    func list(_ list: PhotoList) async throws {
        if list.photos.isEmpty, list.folders.entries.isEmpty { return }
        var small = canvas
        (small.columns, small.rows) = (min(canvas.columns, 40), 6)
        let lines = list.text(context.style).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        // The titles, and each folder, have a line of their own.
        let titles = lines.count - list.photos.count
        for line in lines.prefix(max(0, titles)) { try context.output.visibleLine(line) }
        for (photo, line) in zip(list.photos, lines.dropFirst(max(0, titles))) {
            do {
                try await draw(photo.path, .l, small) { _ in line }
            } catch  where Self.isOfOnePhoto(error) {
                try context.output.visibleLine(line)
            }
        }
    }

    /// Whether an error concerns only one photo.
    static func isOfOnePhoto(_ error: any Error) -> Bool {
        if error is Output.BrokenPipe || error is CancellationError { return false }
        switch Failure(error).status {
        case .badData, .noInput, .tryAgain: return true
        default: return false
        }
    }

    /// Draws a view into a completely downloaded photo.
    func look(_ path: RemotePath, _ view: PanoramaView) async throws {
        let metadata = try await Self.metadata(of: path, below: folder, remote)
        guard metadata.bytes <= Self.mostBytes else {
            throw Failure(
                .badData,
                "'\(path.name)' has \(HumanSize.shown(metadata.bytes)); --view supports up to "
                    + "\(HumanSize.shown(Self.mostBytes))")
        }
        let file = try PhotoFile.temporary(in: context.directories.state)
        defer { unsafe unlink(file) }
        reporter.start(path.name, path: path.string, total: metadata.bytes)
        _ = try await remote.download(
            path, revision: metadata.rev, limit: Self.mostBytes, to: file, progress: reporter.update)
        reporter.finish()
        let caption = try await PhotoNote.ifPossible(of: path, remote)?.caption
        let kind = caption?.view.flatMap { Panorama.Kind(rawValue: $0.rawValue) }
        let box = PictureBox(width: 16, height: 9, columns: canvas.columns, rows: canvas.rows)
        let (width, height) = canvas.pixels(of: box)
        let name = path.name
        let picture = try await BlockingWork.run {
            do { return try view.render(file: file, as: kind, width: width, height: height) } catch let error
                as MediaError
            {
                throw Failure(
                    .badData,
                    error.code == .unsupported
                        ? "'\(name)' is not a panorama; omit --view"
                        : "'\(name)' cannot be shown: \(error.code)")
            }
        }
        let legend = SpotLegend(caption?.spots ?? [], of: path, below: folder, view, (width, height))
        try context.output.writeVisible(try canvas.bytes(picture, box, marks: legend.marks))
        let text = legend.text(context.style)
        if !text.isEmpty { try context.output.visibleLine(text) }
    }

    /// The metadata of an existing photo, which an error names as people type it below a folder, else by its last part.
    static func metadata(
        of path: RemotePath, below folder: RemotePath? = nil, _ remote: any Remote
    ) async throws -> Metadata {
        let name = folder.map { path.name(below: $0) } ?? path.name
        return try await EntryRemoval.file(path, named: name, kind: "photo", remote)
    }

    private func draw(
        _ path: RemotePath, _ size: ThumbnailSize, _ canvas: PictureCanvas, _ line: (Metadata) -> String
    ) async throws {
        let thumbnail = try await Self.thumbnail(of: path, below: folder, size, remote)
        let bytes = try Self.bytes(of: thumbnail.bytes, path, canvas)
        try context.output.visibleLine(line(thumbnail.metadata))
        try context.output.writeVisible(bytes)
    }

    /// The server's thumbnail of a photo, a JPEG file.
    ///
    /// - Throws: A ``Failure`` when there is no such photo or no thumbnail of it.
    static func thumbnail(
        of path: RemotePath, below folder: RemotePath? = nil, _ size: ThumbnailSize, _ remote: any Remote
    ) async throws -> (bytes: [UInt8], metadata: Metadata) {
        do {
            return try await remote.thumbnail(of: path, size: size, format: .jpeg)
        } catch {
            switch error.code {
            case .notFound:
                // Photos that are too large have no thumbnail.
                _ = try await Self.metadata(of: path, below: folder, remote)
                throw Failure(
                    .badData, "'\(path.name)' is too large to show; 'byteclub photos download' downloads it")
            case .undecodable: throw Failure(.badData, "'\(path.name)' is not a photo that the server can read")
            default: throw error
            }
        }
    }

    /// The bytes that draw a thumbnail.
    ///
    /// - Throws: A ``Failure`` when it cannot be decoded.
    static func bytes(of thumbnail: [UInt8], _ path: RemotePath, _ canvas: PictureCanvas) throws -> [UInt8] {
        do { return try canvas.bytes(jpeg: thumbnail) } catch is MediaError {
            throw Failure(.badData, "the server's thumbnail of '\(path.name)' cannot be decoded")
        }
    }
}
