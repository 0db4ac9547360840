import ByteClubCore
import ByteClubFiles
import CLinux
import FoundationEssentials
import Glibc
import Synchronization

/// The large transfers of a running sync, for other programs: a file beside the mirror's database.
///
/// It is written at most once a second during transfers, and removed after them. It may be lost, so it is never synced
/// to disk.
final class ActivityFile: Sendable {
    /// Large files on their way.
    struct Activity: Codable, Sendable {
        var transfers: [MirrorActivity.Transfer]
        /// Bytes a second of all transfers; nil when unknown.
        var bytesPerSecond: Double?

        /// Seconds left at this rate; nil when unknown.
        var secondsLeft: Int? {
            guard let rate = bytesPerSecond, rate >= 1 else { return nil }
            let left = transfers.reduce(0.0) { $0 + Double(max(0, $1.total - $1.completed)) } / rate
            return left < 1e9 ? Int(left.rounded(.up)) : nil
        }
    }

    private static let interval = 1.0

    private struct State {
        var activity: MirrorActivity
        var lastWrite = -Double.infinity
        var isWritten = false
    }

    private let path: String
    private let uptime: @Sendable () -> Duration
    private let state: Mutex<State>

    /// Begins with no file.
    init(_ place: MirrorPlace, _ context: Context) {
        path = Self.path(place)
        uptime = context.uptime
        state = Mutex(State(activity: MirrorActivity(now: context.uptime() / .seconds(1))))
        unlink(path)
    }

    deinit { unlink(path) }

    /// Records an event of the sync.
    func take(_ event: SyncEvent) {
        state.withLock { state in
            let now = uptime() / .seconds(1)
            state.activity.take(event, now: now)
            let transfers = state.activity.transfers
            if transfers.isEmpty {
                if state.isWritten { unlink(path) }
                state.isWritten = false
            } else if now - state.lastWrite >= Self.interval {
                state.lastWrite = now
                state.isWritten = true
                write(Activity(transfers: transfers, bytesPerSecond: state.activity.bytesPerSecond))
            }
        }
    }

    /// The last activity of a mirror's sync; nil without one.
    static func read(_ place: MirrorPlace) -> Activity? {
        guard let bytes = try? LocalFile.read(path(place), limit: 1 << 20) else { return nil }
        return try? JSONDecoder().decode(Activity.self, from: Data(bytes))
    }

    private static func path(_ place: MirrorPlace) -> String { place.state + "/activity" }

    /// Best effort: a sync does not depend on it.
    private func write(_ activity: Activity) {
        guard let bytes = try? JSON.line(activity) else { return }
        do throws(FileFailure) {
            var draft = try DraftFile<FileFailure>(path + ".new", O_TRUNC)
            try draft.file.write(bytes)
            try draft.place(at: path)
        } catch {
            return
        }
    }

    private func unlink(_ path: String) { _ = unsafe Glibc.unlink(path) }
}
