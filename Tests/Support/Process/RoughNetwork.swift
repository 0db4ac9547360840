import Glibc
import Synchronization

/// The way from one machine to a server on loopback, which can be slow, stand still or be cut.
///
/// It passes bytes on as they are and knows nothing of HTTP, so a cut falls anywhere in a message.
public final class RoughNetwork: Sendable {
    /// What happens to bytes, in both directions.
    public enum Condition: Sendable {
        /// They pass at once.
        case clear
        /// No connection carries more than so many bytes a second.
        case slow(bytesPerSecond: Int)
        /// They wait where they are; nobody is told.
        case still
        /// Connections are reset as soon as this begins, and so are new ones until it ends.
        case cut
        /// A connection ends, in order, when it has brought so many bytes from the server.
        case breaking(after: Int)
    }

    private struct State {
        var condition = Condition.clear
        var cuts = 0
        var brought = 0
    }

    private final class Passage: Sendable {
        let client: RawConnection
        let server: RawConnection

        init(_ client: consuming RawConnection, _ server: consuming RawConnection) {
            self.client = client
            self.server = server
        }

        func reset() {
            client.abort()
            server.abort()
        }
    }

    private static let patience = 20
    private let listener: LoopbackListener
    private let upstream: UInt16
    private let state = Mutex(State())

    /// Starts to pass connections on to a port of loopback.
    ///
    /// - Throws: An error when the system has no port left.
    public init(to upstream: UInt16) throws {
        self.upstream = upstream
        listener = try LoopbackListener()
        listener.start { [weak self] descriptor in
            let client = RawConnection(accepted: descriptor, timeout: 3_600)
            guard let self, let server = connect() else { return client.reset() }
            start(Passage(client, server))
        }
    }

    deinit { listener.stop() }

    /// The address that stands for the server's.
    public var url: String { "http://127.0.0.1:\(listener.port)" }

    /// How many bytes the clients were brought from the server so far.
    public var brought: Int { state.withLock { $0.brought } }

    /// Changes what happens to bytes from now on.
    public func become(_ condition: Condition) {
        state.withLock {
            $0.condition = condition
            if case .cut = condition { $0.cuts += 1 }
        }
    }

    private func connect() -> RawConnection? {
        if case .cut = state.withLock({ $0.condition }) { return nil }
        return RawConnection(port: upstream, timeout: 3_600)
    }

    private func start(_ passage: Passage) {
        let cuts = state.withLock { $0.cuts }
        BackgroundThread.start { [self] in pass(passage.client, to: passage.server, passage, cuts, isDown: false) }
        BackgroundThread.start { [self] in pass(passage.server, to: passage.client, passage, cuts, isDown: true) }
    }

    private func pass(
        _ source: borrowing RawConnection, to target: borrowing RawConnection, _ passage: Passage, _ cuts: Int,
        isDown: Bool
    ) {
        var passed = 0
        while true {
            let (condition, isCut) = state.withLock { ($0.condition, $0.cuts != cuts) }
            if isCut { return passage.reset() }
            if case .still = condition {
                usleep(UInt32(Self.patience) * 1_000)
                continue
            }
            guard source.hasInput(within: Self.patience) else { continue }
            var share = 1 << 16
            if case .slow(let bytesPerSecond) = condition {
                share = max(1, bytesPerSecond * Self.patience / 1_000)
                usleep(UInt32(Self.patience) * 1_000)
            }
            if case .breaking(let most) = condition, isDown {
                if passed >= most {
                    passage.server.abort()
                    return target.endSending()
                }
                share = min(share, most - passed)
            }
            let bytes = source.receive(atMost: share)
            if bytes.isEmpty { return target.endSending() }
            if !target.send(bytes) { return passage.reset() }
            passed += bytes.count
            if isDown { state.withLock { $0.brought += bytes.count } }
        }
    }
}
