import ByteClubMedia
import DownloadBoard
import ExampleSupport
import FoundationEssentials
import Glibc

/// A terminal's screen: a row for each download.
struct Screen: Display {
    let terminal: KeyTerminal
    let hasColours: Bool
    /// Whether pictures are drawn when they are complete.
    let drawsPictures: Bool
    private var drawn: ContinuousClock.Instant?
    private var isStale = false

    /// Counters that change faster are drawn at most this often.
    private static let pace: Duration = .milliseconds(50)

    init(_ terminal: KeyTerminal, drawsPictures: Bool) {
        self.terminal = terminal
        hasColours = KeyTerminal.hasColours
        self.drawsPictures = drawsPictures
    }

    mutating func show(_ event: Board.Event, _ board: Board, isNews: Bool) {
        if isNews, let place = event.place, board.downloads[place].state == .done {
            // Where standard output is redirected, the results go there.
            if isatty(STDOUT_FILENO) != 1 { ExampleSupport.show(board.downloads[place].file) }
            if drawsPictures { return draw(board, below: picture(board.downloads[place])) }
        }
        if !isNews, event.place != nil, let drawn, .now - drawn < Self.pace {
            isStale = true
        } else {
            draw(board, below: nil)
        }
    }

    mutating func begin(_ board: Board) { draw(board, below: nil) }

    mutating func refresh(_ board: Board) { if isStale { draw(board, below: nil) } }

    private mutating func draw(_ board: Board, below lines: String?) {
        let (columns, rows) = terminal.size
        let texts = board.rows(columns: columns, lines: rows).map { $0.painted(hasColours: hasColours) }
        if let lines { terminal.write(lines, above: texts) } else { terminal.draw(texts) }
        (drawn, isStale) = (.now, false)
    }

    private func picture(_ download: Board.Download) -> String {
        let (columns, rows) = terminal.size
        do {
            return try Drawing.lines(ofPictureAt: download.file, columns: columns, rows: max(rows / 2, 1))
        } catch {
            return "\(download.name) cannot be drawn: \(error.message.printable)\n"
        }
    }
}

/// A line for each new standing on standard error, and the path of each complete file on standard output.
struct Lines: Display {
    /// Prints the downloads in the background with their identifiers.
    func begin(_ board: Board) { for download in board.downloads where download.id != nil { tell(download.line) } }

    func show(_ event: Board.Event, _ board: Board, isNews: Bool) {
        guard isNews, let place = event.place else { return }
        let download = board.downloads[place]
        tell(download.line)
        if download.state == .done { ExampleSupport.show(download.file) }
    }
}

/// A JSON object for each event, in a line of its own; progress once a second.
///
/// An event that changes the state as well follows the object of the new state.
struct JSONLines: Display {
    private struct Line: Encodable {
        var event: String
        /// From 1, in the order of the arguments.
        var download: Int
        var url: String
        var file: String
        var id: String?
        var state: String
        var bytes: Int64
        var total: Int64?
        var bytesPerSecond: Double?
        /// Where it goes on; 0 where it begins anew.
        var at: Int64?
        var pieces: Int?
        /// The bytes of the last piece.
        var piece: Int?
        var error: String?
    }

    private var shown: [Int: ContinuousClock.Instant] = [:]
    private var states: [Int: Board.State] = [:]

    mutating func begin(_ board: Board) {
        for place in board.downloads.indices {
            states[place] = board.downloads[place].state
            write(line(place, board))
        }
    }

    mutating func show(_ event: Board.Event, _ board: Board, isNews: Bool) {
        guard let place = event.place else { return }
        var line = line(place, board)
        let state = board.downloads[place].state
        if states.updateValue(state, forKey: place) != state {
            write(line)
        } else if case .progress = event, state.isUnderWay || state == .paused,
            shown[place].map({ .now - $0 >= .seconds(1) }) ?? true
        {
            shown[place] = .now
            line.event = "progress"
            write(line)
        }
        if case .offline = event, isNews {
            line.event = "offline"
            write(line)
        }
        if case .resumed = event, isNews {
            (line.event, line.at) = ("resumed", board.downloads[place].resumedAt)
            write(line)
        }
        if case .piece = event {
            (line.event, line.piece) = ("piece", board.downloads[place].lastPiece)
            write(line)
        }
    }

    private func line(_ place: Int, _ board: Board) -> Line {
        let download = board.downloads[place]
        return Line(
            event: "state", download: place + 1, url: download.url, file: download.file, id: download.id,
            state: download.state.rawValue, bytes: download.bytes, total: download.total,
            bytesPerSecond: download.state == .running ? download.bytesPerSecond : nil, pieces: download.pieces,
            error: download.failure?.message)
    }

    private func write(_ line: Line) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if let bytes = try? encoder.encode(line) { ExampleSupport.show(String(decoding: bytes, as: UTF8.self)) }
    }
}
