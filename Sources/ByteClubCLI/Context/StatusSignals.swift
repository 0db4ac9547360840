/// How a command hears of what people ask of it without ending it.
struct StatusSignals: Sendable {
    /// What is asked.
    enum Signal: Hashable, Sendable {
        /// How far it is: SIGUSR1.
        case report
        /// To look at the terminal's size again: SIGWINCH.
        case resize
    }

    /// Starts to listen, and gives what ends it.
    var listen: @Sendable (_ onSignal: @escaping @Sendable (Signal) -> Void) -> @Sendable () -> Void

    /// Nobody asks.
    static let none = StatusSignals(listen: { _ in {} })
}
