import CLinux
import HummingbirdCore
import NIOCore

/// How many connections there may be, and how long a client may keep one without getting on.
struct ConnectionLimits: Sendable {
    /// The most connections at once, of some 25 KiB of memory each; one more replaces an idle one, or is answered with
    /// 503.
    var connections = 2048
    /// How long a connection may wait between two requests.
    var idle = TimeAmount.seconds(120)
    /// How long a request's head may take from its first byte, or a new connection until it sends one.
    var head = TimeAmount.seconds(20)
    /// For how long a client may be slower than ``slowest`` before it is disconnected.
    var stall = TimeAmount.seconds(60)
    /// The fewest bytes a second, over ``stall``, of a body that is received or an answer that is sent.
    var slowest = 64
    /// How long a shutdown waits for requests that have begun.
    var drain = TimeAmount.seconds(15)

    /// The interval between checks of a connection's pace.
    var interval: TimeAmount {
        let shortest = min(idle, head, stall).nanoseconds / 4
        return .nanoseconds(max(20_000_000, min(5_000_000_000, shortest)))
    }

    /// The bytes that a client must manage during ``stall``.
    var leastBytes: Int64 { stall.nanoseconds / 1_000_000_000 * Int64(slowest) }
}

extension HTTP1Channel.Configuration {
    /// The most bytes of one header field, and of the request line.
    static let fieldSize = 16 << 10

    /// HTTP as the limits allow it, over TLS or not.
    init(_ limits: ConnectionLimits, _ connections: OpenConnections, isSecure: Bool) {
        self.init(
            additionalChannelHandlers: [
                ConnectionHandler(limits: limits, connections: connections, isSecure: isSecure)
            ], idleTimeout: nil,
            httpDecoderConfiguration: DecoderConfiguration(
                maxHeaderFieldSize: Self.fieldSize, maxHeaderListSize: 64 << 10, maxHeaderFieldCount: 100))
    }
}

/// The descriptors that the system lets this process have open.
enum DescriptorLimit {
    /// The descriptors that the server needs besides connections: for the database, the log and uploads.
    private static let reserve = 128

    /// Asks for as many as this process may have, and returns how many connections they allow: each may have a file open
    /// besides.
    static func raise() -> Int { max(16, (byteclub_raise_descriptor_limit() - reserve) / 2) }
}
