/// How far a task has come.
///
/// Counters never shrink within one attempt; a higher ``attempt`` says that the request started over.
public struct TaskProgress: Sendable, Hashable {
    /// Body bytes handed to the network.
    public var bytesSent: Int64 = 0

    /// The length of the request's body, or -1 when it is not known yet.
    public var bytesExpectedToSend: Int64 = -1

    /// Body bytes received, counted as they came over the wire: before any decompression.
    ///
    /// Where a download is continued, those that were there before count too, once the server agreed.
    public var bytesReceived: Int64 = 0

    /// The length of the response's body, or -1 when it is unknown.
    public var bytesExpectedToReceive: Int64 = -1

    /// The rate of the larger direction, smoothed over about a second.
    public var bytesPerSecond: Double = 0

    /// Which attempt this is, from 1; 0 before the first.
    public var attempt = 0

    /// How long the larger direction will take at the present rate; nil while its length or the rate is unknown.
    public var timeLeft: Duration? {
        let (sending, receiving) = (bytesExpectedToSend - bytesSent, bytesExpectedToReceive - bytesReceived)
        let left = bytesExpectedToReceive > 0 ? max(receiving, 0) : max(sending, 0)
        guard max(bytesExpectedToSend, bytesExpectedToReceive) > 0 else { return nil }
        if left == 0 { return .zero }
        guard bytesPerSecond >= 1 else { return nil }
        return .seconds(Double(left) / bytesPerSecond)
    }

    /// Nothing moved yet.
    public init() {}
}
