import Dispatch
import GRDB
import Synchronization

/// Copies the write-ahead log into the database beside the writer, so that no commit waits for it.
///
/// While the writer works, such a copy never reaches the end of the log, and the log would grow for ever. So the writer
/// copies the few pages that came meanwhile itself, and its next commit restarts the log.
final class Checkpointer: Sendable {
    /// How many pages the log has, roughly, when it is copied: 16 MiB.
    private static let threshold = 4_000

    private enum State {
        /// The log has grown by about so many pages since it was copied.
        case growing(Int)
        case copying
        case copied
    }

    private let connection: DatabaseQueue
    private let queue = DispatchQueue(label: "byteclub.storage.checkpoint", qos: .utility)
    private let state = Mutex(State.growing(0))

    /// Opens a connection of its own to a database in WAL mode.
    init(path: String) throws {
        var configuration = Configuration()
        configuration.label = "byteclub.checkpoint"
        connection = try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Copies a log that is too long already: servers that were killed again and again left more and more in it.
    static func catchUp(_ pool: DatabasePool) {
        guard let length = Directory.fileLength(pool.path + "-wal"), length > Int64(threshold) << 12 else { return }
        // While another program reads the copy may not come to the log's end; commits will.
        _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }

    /// Counts a commit, and returns whether the writer has to copy the rest now.
    func committed(changes: Int, bytes: Int) -> Bool {
        let (starts, ends) = state.withLock { state in
            switch state {
            case .growing(let pages):
                let pages = pages + 3 * changes + (bytes >> 12)
                state = pages < Self.threshold ? .growing(pages) : .copying
                return (pages >= Self.threshold, false)
            case .copying: return (false, false)
            case .copied:
                state = .growing(0)
                return (false, true)
            }
        }
        if starts { queue.async { self.copy() } }
        return ends
    }

    /// Waits for a copy that runs, and closes the connection.
    func close() throws {
        queue.sync {}
        try connection.close()
    }

    private func copy() {
        _ = try? connection.inDatabase { try $0.checkpoint(.passive) }
        state.withLock { $0 = .copied }
    }
}
