import ByteClubCore
import Synchronization

/// Desktop notifications of changes by other members, bundled: the first some seconds after a change, then at most one
/// a minute.
final class SyncNotifier: Sendable {
    private struct State {
        var notice = SyncNotice()
        var isWaiting = false
        var hasShown = false
    }

    private static let first = Duration.seconds(5)
    private static let next = Duration.seconds(60)

    private let desktop: Desktop
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = Mutex(State())

    /// Creates a notifier; `sleep` waits between notifications.
    init(
        _ desktop: Desktop,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.desktop = desktop
        self.sleep = sleep
    }

    /// Adds an event; never blocks, from any thread.
    func take(_ event: SyncEvent) {
        let wait: Duration? = state.withLock { state in
            state.notice.add(event)
            if state.notice.isEmpty || state.isWaiting { return nil }
            state.isWaiting = true
            return state.hasShown ? Self.next : Self.first
        }
        if let wait { Task { await show(after: wait) } }
    }

    private func show(after wait: Duration) async {
        do { try await sleep(wait) } catch { return }
        let notice = state.withLock { state in
            defer { (state.notice, state.isWaiting, state.hasShown) = (SyncNotice(), false, true) }
            return state.notice
        }
        let (title, text) = notice.words
        await desktop.show(title, text)
    }
}

/// Changes by other members during a sync, collected for one notification.
struct SyncNotice: Hashable, Sendable {
    /// The most entries to name.
    static let most = 5

    private var counts: [String: Int] = [:]
    private var lines: [String] = []

    /// Whether there are no changes.
    var isEmpty: Bool { counts.isEmpty }

    /// Adds an event, unless this machine caused it.
    mutating func add(_ event: SyncEvent) {
        switch event.event {
        case .download: add(event.isNew == true ? "added" : "changed", event.path)
        case .deleteLocal: add("removed", event.path)
        case .moveLocal: add("moved", event.path)
        case .merge: add("merged", event.path)
        case .conflict: add("conflict", event.path)
        default: break
        }
    }

    private mutating func add(_ word: String, _ path: String?) {
        counts[word, default: 0] += 1
        if lines.count < Self.most { lines.append("\(word) \(Failure.line(path ?? ""))") }
    }

    /// Title and text: the number of changes by kind, and the first entries.
    var words: (title: String, text: String) {
        let parts = ["added", "changed", "removed", "moved", "merged"].compactMap { word in
            counts[word].map { "\($0) \(word)" }
        }
        let conflicts = counts["conflict"].map { ["\($0) \($0 == 1 ? "conflict" : "conflicts")"] } ?? []
        let rest = counts.values.reduce(0, +) - lines.count
        return (
            "ByteClub: " + (parts + conflicts).joined(separator: ", "),
            (lines + (rest > 0 ? ["and \(rest) more"] : [])).joined(separator: "\n")
        )
    }
}
