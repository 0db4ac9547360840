import ByteClubCore
import Crypto
import Synchronization
import TestSupport

@testable import ByteClubServer

/// A store that keeps a club in memory; closing it loses all.
///
/// It keeps to all that ``ClubStore`` promises but survival. Each change copies what it touches of the folder, so it is
/// for thousands of entries rather than millions.
final class MemoryStore: ClubStore {
    let epoch = Secret.text(bytes: 16)
    let signingKey = SymmetricKey(size: .bits256)
    let settings: HistorySettings
    let blobs: any BlobStore = MemoryBlobStore()
    let chunks: any ChunkStore
    let underWay = BytesUnderWay()
    let signal = ChangeSignal(lastRevision: 0)
    private let club: Mutex<MemoryClub>
    private let clock: @Sendable () -> APIDate
    private let uptime: @Sendable () -> Uptime

    /// Starts an empty club.
    ///
    /// - Parameters:
    ///   - settings: How long the past is kept, and how much may be stored.
    ///   - now: The wall clock.
    ///   - uptime: The clock that nobody can set.
    init(
        settings: HistorySettings = HistorySettings(), now: @escaping @Sendable () -> APIDate,
        uptime: @escaping @Sendable () -> Uptime = Uptime.now
    ) {
        self.settings = settings
        clock = now
        self.uptime = uptime
        chunks = MemoryChunkStore(now: now)
        club = Mutex(MemoryClub(age: HistoryAge(wall: now().seconds, uptime: uptime())))
    }

    var statistics: StoreStatistics {
        var statistics = club.withLock { $0.statistics }
        statistics.waiting = signal.waiterCount
        return statistics
    }

    var clubName: String? { club.withLock { $0.clubName } }

    func close() throws { club.withLock { $0.isClosed = true } }

    /// The wall clock.
    var now: APIDate { clock() }

    /// How many seconds have passed for certain.
    func age(of club: MemoryClub) -> HistoryAge { club.age.advanced(wall: now.seconds, uptime: uptime()) }

    /// Looks at the club as it is.
    func query<T: Sendable>(_ body: (MemoryClub) throws -> T) throws -> T {
        let club = club.withLock { $0 }
        if club.isClosed { throw StorageError(.closed, "the storage is closed") }
        return try body(club)
    }

    /// Changes the club; a change that throws leaves nothing.
    func change<T: Sendable>(_ body: (inout MemoryClub) throws -> T) throws -> T {
        let start = ContinuousClock.now
        return try club.withLock { club in
            if club.isClosed { throw StorageError(.closed, "the storage is closed") }
            var changed = club
            let result = try body(&changed)
            changed.statistics.commits.changes += 1
            changed.statistics.commits.time.record(start.duration(to: .now) / .seconds(1))
            club = changed
            return result
        }
    }
}
