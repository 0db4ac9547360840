import ByteClubHTTP
import DownloadBoard
import ExampleSupport
import HTTPTypes

/// Performs downloads, and reports their events to the desk.
protocol Engine: Sendable {
    /// The downloads, as they are before the start.
    var downloads: [Board.Download] { get }

    /// Starts the downloads.
    func start(_ desk: Desk) async

    /// Performs a command of the board.
    func perform(_ command: Board.Command, _ desk: Desk) async

    /// Ends the session; returns when the parts to keep are stored, and the desk knows how each download was left.
    func leave(_ desk: Desk) async
}

extension Failure {
    /// The failure of a download.
    init(_ error: TransferError) {
        let isUnknown = error.code == .unacceptableResponse && error.rejected?.response.status.code == 404
        self.init(isUnknown ? .notFound : Code(error), error.message.printable)
    }
}
