/// How a task uses its session's ``ResponseCache``.
public enum CachePolicy: Sendable, Hashable {
    /// As HTTP says (RFC 9111): a fresh answer is used, a stale one is asked about.
    case protocolRules
    /// The server is asked in any case; its answer is kept.
    case reload
    /// A stored answer is used however old it is; where there is none the server is asked.
    case storedElseLoad
    /// A stored answer is used however old it is; where there is none the task fails with
    /// ``TransferError/Code/notStored``, and nothing is sent.
    case storedOnly
}
