import DownloadBoard
import ExampleSupport

/// Passes events to the board one at a time, and shows their effects.
actor Desk {
    /// The commands of the board, for one reader.
    nonisolated let commands: AsyncStream<Board.Command>
    private let given: AsyncStream<Board.Command>.Continuation
    private var board: Board
    private var display: any Display

    init(_ board: Board, _ display: any Display) {
        (self.board, self.display) = (board, display)
        (commands, given) = AsyncStream.makeStream()
    }

    /// Shows the downloads before the first event.
    func begin() { display.begin(board) }

    /// Handles an event; when this returns, it is shown.
    func handle(_ event: Board.Event) {
        let before = event.place.flatMap { standing($0) }
        for command in board.handle(event) { given.yield(command) }
        display.show(event, board, isNews: before != event.place.flatMap { standing($0) })
    }

    /// Shows the postponed changes.
    func refresh() { display.refresh(board) }

    /// How the program ends, see ``Board/ending(_:)``.
    func ending(_ survival: Board.Survival) -> Board.Ending { board.ending(survival) }

    private func standing(_ place: Int) -> Board.Download.Standing? {
        board.downloads.indices.contains(place) ? board.downloads[place].standing : nil
    }
}

/// Shows the downloads' events.
protocol Display: Sendable {
    /// Shows the downloads before the first event.
    mutating func begin(_ board: Board)

    /// Shows an event that the board has handled.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - board: The board after it.
    ///   - isNews: Whether the standing of the event's download has changed.
    mutating func show(_ event: Board.Event, _ board: Board, isNews: Bool)

    /// Shows the postponed changes.
    mutating func refresh(_ board: Board)
}

extension Display {
    mutating func refresh(_ board: Board) {}
}

/// Writes a line to standard error.
func tell(_ line: String) { writeToErrors(line + "\n") }
