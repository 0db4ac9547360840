import ByteClubCore
import Synchronization

/// Shows on the desktop what other members did, bundled: some seconds after the first change, and then once a minute at
/// most.
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

    /// Shows notices on a desktop; `sleep` waits between them.
    init(
        _ desktop: Desktop,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.desktop = desktop
        self.sleep = sleep
    }

    /// Gathers one event; at once, from any thread.
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
