import ByteClubCore
import ByteClubMedia

/// A note on a terminal: its text as it is written, with headings in bold and its photos drawn in their places.
struct ShownNote: Sendable {
    /// The most photos that are drawn.
    static let mostPhotos = 20
    /// The bytes of thumbnails after which no more are requested.
    static let mostBytes = 32 << 20
    /// The largest note that is looked through.
    private static let largest = 4 << 20

    private let bytes: [UInt8]
    private let path: RemotePath
    private let parts: [Markdown.SourcePart]

    /// Looks through a note.
    init(_ bytes: [UInt8], at path: RemotePath) {
        self.bytes = bytes
        self.path = path
        parts = bytes.count <= Self.largest ? Markdown.sourceParts(of: bytes) : [.text(0..<bytes.count)]
    }

    /// Whether there is something to draw.
    var hasPictures: Bool {
        parts.contains { part in
            if case .pictures = part { true } else { false }
        }
    }

    /// Writes the text alone.
    func write(in context: Context) throws {
        guard context.style.isBold else { return try context.output.write(bytes) }
        var start = 0
        for part in parts {
            guard case .heading(let range) = part else { continue }
            if start < range.lowerBound { try context.output.write(Array(bytes[start..<range.lowerBound])) }
            try writeHeading(range, context)
            start = range.upperBound
        }
        if start < bytes.count || start == 0 { try context.output.write(Array(bytes[start...])) }
    }

    private func writeHeading(_ range: Range<Int>, _ context: Context) throws {
        let line = Array(bytes[range])
        var end = line[...]
        while let last = end.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { end.removeLast() }
        // What a terminal would obey is for the filter of the output, which also says so.
        guard context.style.isBold, VisibleText.whole(line) == line else { return try context.output.write(line) }
        try context.output.writeVisible(
            Array("\u{1B}[1m".utf8) + end + Array("\u{1B}[0m".utf8) + line[end.endIndex...])
    }

    // MARK: - Photos

    /// Writes the text with the photos that it shows.
    ///
    /// A line of nothing but photos is replaced by them; what cannot be drawn stays a line, with the reason below it.
    /// When the server fails, the rest of the text is written before the error.
    func draw(in context: Context, _ canvas: PictureCanvas, _ remote: any Remote) async throws {
        var drawing = Drawing(note: path, canvas: canvas, remote: remote)
        for part in parts {
            switch part {
            case .text(let range): try context.output.write(Array(bytes[range]))
            case .heading(let range): try writeHeading(range, context)
            case .pictures(let range, let pictures, let isAlone):
                let results: [Drawing.Outcome]
                do { results = try await drawing.outcomes(of: pictures) } catch {
                    if !Self.isEnd(error) { try context.output.write(Array(bytes[range.lowerBound...])) }
                    throw error
                }
                try write(results, range, isAlone: isAlone, context)
            }
        }
        if drawing.left > 0 {
            context.note("and \(drawing.left) more photo\(drawing.left == 1 ? "" : "s"), which stay text")
        }
    }

    private func write(
        _ results: [Drawing.Outcome], _ range: Range<Int>, isAlone: Bool, _ context: Context
    ) throws {
        let areAllDrawn = results.allSatisfy { if case .drawn = $0 { true } else { false } }
        if !isAlone || !areAllDrawn {
            try context.output.write(Array(bytes[range]))
            if bytes[range].last != UInt8(ascii: "\n") { try context.output.write("\n") }
        }
        for result in results {
            switch result {
            case .drawn(let picture, let caption):
                try context.output.writeVisible(picture)
                try context.output.line(caption)
            case .refused(let reason): try context.output.line("  (\(reason))")
            case .left: continue
            }
        }
    }

    /// Whether nobody waits for the rest of the text.
    private static func isEnd(_ error: any Error) -> Bool {
        if error is Output.BrokenPipe || error is CancellationError { return true }
        return [.interrupted, .terminated].contains(Failure(error).status)
    }
}

extension ShownNote {
    /// The requests for the photos of a note, as far as their number and their bytes allow.
    private struct Drawing {
        /// What became of a photo.
        enum Outcome {
            /// The bytes that draw it, and the line below it.
            case drawn([UInt8], caption: String)
            /// Why it cannot be drawn.
            case refused(String)
            /// One too many.
            case left
        }

        private let note: RemotePath
        private let canvas: PictureCanvas
        private let size: ThumbnailSize
        private let remote: any Remote
        private var asked = 0
        private var bytes = 0
        /// The photos that were too many.
        private(set) var left = 0

        init(note: RemotePath, canvas: PictureCanvas, remote: any Remote) {
            (self.note, self.remote) = (note, remote)
            // A third of the screen, so that there is text beside each picture.
            let rows = max(4, (canvas.rows + 3) / 3)
            var canvas = canvas
            (canvas.rows, canvas.strip) = (rows, rows)
            self.canvas = canvas
            let isFine = canvas.way != .blocks && canvas.columns * canvas.cell.width > ThumbnailSize.l.width
            size = isFine ? .xl : .l
        }

        mutating func outcomes(of pictures: [Markdown.Picture]) async throws -> [Outcome] {
            var outcomes: [Outcome] = []
            for picture in pictures {
                guard asked < ShownNote.mostPhotos, bytes < ShownNote.mostBytes else {
                    left += 1
                    outcomes.append(.left)
                    continue
                }
                asked += 1
                outcomes.append(try await outcome(of: picture))
            }
            return outcomes
        }

        private mutating func outcome(of picture: Markdown.Picture) async throws -> Outcome {
            guard let photo = Markdown.path(of: picture.target, in: note) else {
                return .refused("'\(picture.target)' is no photo of the club")
            }
            do {
                let thumbnail = try await PhotoShow.thumbnail(of: photo, size, remote)
                bytes += thumbnail.bytes.count
                let drawn = try PhotoShow.bytes(of: thumbnail.bytes, photo, canvas)
                return .drawn(drawn, caption: picture.text.isEmpty ? photo.name : picture.text)
            } catch {
                guard PhotoShow.isOfOnePhoto(error) else { throw error }
                let failure = Failure(error)
                return .refused(
                    failure.status == .noInput ? "there is no photo '\(picture.target)'" : failure.message)
            }
        }
    }
}
