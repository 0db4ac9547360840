import ByteClubHTTP
import Glibc
import Synchronization

/// Tells the person at the desktop that transfers have ended, by notify-send(1) where there is one and a session bus.
///
/// What ends within two seconds is told together.
final class TransferNotifier: Sendable {
    private static let moment = Duration.seconds(2)
    /// So many are named one by one.
    private static let most = 5

    private let show: @Sendable (_ title: String, _ text: String) async -> Void
    private let ended = Mutex<[BackgroundStatus]>([])

    /// A notifier that shows titles and texts its own way.
    init(show: @escaping @Sendable (_ title: String, _ text: String) async -> Void) { self.show = show }

    /// The desktop's; nil where there is none.
    convenience init?(_ environment: [String: String]) {
        guard environment["DBUS_SESSION_BUS_ADDRESS"]?.isEmpty == false else { return nil }
        let folders = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        guard folders.contains(where: { unsafe access($0 + "/notify-send", X_OK) == 0 }) else { return nil }
        self.init { title, text in
            _ = try? await BlockingWork.run {
                let process = try ShellCommand.start(
                    "notify-send", "--app-name=byteclub", "--icon=image-x-generic", "--", title, text, detached: true)
                var status: Int32 = 0
                while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
            }
        }
    }

    /// Takes one that has ended; returns when it was told.
    func take(_ status: BackgroundStatus) async {
        // Who cancelled it knows.
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
        await show(title, text)
    }

    /// Title and text, in which nothing is markup.
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
        let text = lines.joined(separator: "\n").replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
        return (title, text)
    }
}
