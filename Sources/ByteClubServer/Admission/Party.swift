/// Who pays for what a request takes.
enum Requester: Hashable, Sendable {
    /// A member, from wherever the request comes.
    case member(Int64)
    /// Somebody without an account, by network (``IPAddress/network``); nil when the connection has no address.
    case stranger(IPAddress?)

    /// Whether it has no account.
    var isStranger: Bool {
        if case .stranger = self { true } else { false }
    }
}
