import ByteClubCore
import CLinux
import Glibc
import Logging
import NIOCore
import Synchronization
import TestSupport

@testable import ByteClubServer

/// A store in a directory of its own, with a clock that the test moves.
final class StoreFixture: Sendable {
    let directory: TemporaryDirectory
    let store: SQLiteStore
    let seconds: Clock

    init(in parent: String? = nil, _ settings: HistorySettings = HistorySettings()) throws {
        directory = try TemporaryDirectory(in: parent)
        let clock = Clock()
        seconds = clock
        store = try Self.open(directory.path, settings, clock: clock)
    }

    static func open(
        _ directory: String, mode: SQLiteStore.Mode = .server, _ settings: HistorySettings = HistorySettings(),
        clock: Clock
    ) throws -> SQLiteStore {
        try SQLiteStore(
            directory: directory, mode: mode, settings: settings, now: { clock.now }, uptime: { clock.uptime },
            logger: Logger(label: "test") { _ in
                SwiftLogNoOpLogHandler()
            })
    }

    /// What takes the tables of ``Schema/addGallery(_:)`` out of a database that is to be an older one.
    static let dropGallery = """
        DROP TRIGGER note_added; DROP TRIGGER note_changed; DROP TRIGGER photo_added; DROP TRIGGER photo_changed;
        DROP TRIGGER caption_added; DROP TRIGGER caption_changed; DROP TRIGGER media_info_found;
        DROP VIEW gallery_source; DROP TABLE gallery_item; DROP TABLE caption_view; DROP INDEX version_caption;
        """

    /// Stores bytes as the server does: in memory when small, else through a file.
    @discardableResult
    func put(_ path: String, _ bytes: [UInt8], _ condition: WriteCondition = .overwrite) async throws -> FolderEntry {
        try await Self.put(store, path, bytes, by: 1, condition)
    }

    @discardableResult
    static func put(
        _ store: any ClubStore, _ path: String, _ bytes: [UInt8], by member: Int64 = 1,
        _ condition: WriteCondition = .overwrite
    ) async throws -> FolderEntry {
        let writer = try await store.blobs.writer()
        for start in stride(from: 0, to: bytes.count, by: 100_000) {
            try await writer.write(Array(bytes[start..<min(start + 100_000, bytes.count)]))
        }
        let content = try await writer.finish()
        let path = try RemotePath(path)
        return try await store.write(by: member, storing: content) { folder in
            try folder.put(
                path, bytes: content.bytes, hash: content.hash, condition: condition, policy: .fail)
        }
    }

    /// The bytes of a version.
    func bytes(_ entry: FolderEntry) async throws -> [UInt8] {
        try await store.content(of: entry).bytes()
    }

    /// The names in the staging folder.
    var staged: [String] { (try? Directory.names(in: store.files.staging)) ?? ["unreadable"] }

    /// How many large contents there are.
    var blobCount: Int {
        let directories = (try? Directory.names(in: store.files.root)) ?? []
        return directories.reduce(0) { count, name in
            count + ((try? Directory.names(in: store.files.root + "/" + name))?.count ?? 0)
        }
    }
}

extension StoredContent {
    /// All the bytes.
    func bytes() async throws -> [UInt8] {
        switch self {
        case .bytes(let bytes): bytes
        case .blob(let blob):
            Array(try await blob.open().read(at: 0, count: Int(blob.length)).readableBytesView)
        }
    }
}

/// A time that stands still until it is moved.
final class Clock: Sendable {
    private struct State {
        var wall: Int64
        var uptime: Int64 = 1000
        var boot = 1
    }

    private let state: Mutex<State>

    init(_ start: APIDate = APIDate(seconds: 1_000_000)) {
        state = Mutex(State(wall: start.seconds))
    }

    var now: APIDate { APIDate(seconds: state.withLock { $0.wall }) }
    var uptime: Uptime { state.withLock { Uptime(boot: "boot-\($0.boot)", seconds: $0.uptime) } }

    /// Lets time pass.
    func advance(_ count: Int64) {
        state.withLock {
            $0.wall += count
            $0.uptime += count
        }
    }

    /// Sets the clock on the wall while no time passes.
    func jump(_ count: Int64) { state.withLock { $0.wall += count } }

    /// Starts the machine again after it was off for some time.
    func reboot(after count: Int64) {
        state.withLock {
            $0.wall += count
            $0.boot += 1
            $0.uptime = 10
        }
    }
}

/// Bytes that a seed repeats.
func randomBytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { unsafe withUnsafeBytes(of: generator.next()) { unsafe bytes.append(contentsOf: $0) } }
    return Array(bytes.prefix(count))
}
