import ByteClubHTTP
import Synchronization

/// Desktop notifications of finished transfers.
///
/// Transfers that end within two seconds share one.
final class TransferNotifier: Sendable {
    private static let moment = Duration.seconds(2)
    /// The most transfers to name.
    private static let most = 5

    private let desktop: Desktop
    private let ended = Mutex<[BackgroundStatus]>([])

    /// Shows notices on a desktop.
    init(_ desktop: Desktop) { self.desktop = desktop }

    /// Adds a finished transfer; returns after its notification.
    func take(_ status: BackgroundStatus) async {
        // A cancellation is no news to the user.
        if status.failure?.code == "cancelled" { return }
        let isFirst = ended.withLock { ended in
            ended.append(status)
            return ended.count == 1
        }
        guard isFirst else { return }
        try? await Task.sleep(for: Self.moment)
        let all = ended.withLock { ended in
            defer { ended = [] }
            return ended
        }
        let (title, text) = Self.words(all)
        await desktop.show(title, text)
    }

    /// Title and text.
    static func words(_ all: [BackgroundStatus]) -> (title: String, text: String) {
        let failed = all.count { $0.state == .failed }
        let noun = all.count == 1 ? "transfer" : "transfers"
        let title =
            failed == 0
            ? "\(all.count) \(noun) done"
            : failed == all.count ? "\(failed) \(noun) failed" : "\(failed) of \(all.count) \(noun) failed"
        let ordered = all.filter { $0.state == .failed } + all.filter { $0.state != .failed }
        var lines = ordered.prefix(most).map { status in
            let name = Failure.line(TransferObject(status, id: "").label)
            return status.state == .failed ? "\(name): \(Failure.line(status.failure?.message ?? "failed"))" : name
        }
        if ordered.count > most { lines.append("and \(ordered.count - most) more") }
        return (title, lines.joined(separator: "\n"))
    }
}
