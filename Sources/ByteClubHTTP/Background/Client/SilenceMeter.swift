/// Whether a daemon keeps somebody waiting without a word for too long; pure: it is told what was heard, and of ticks.
///
/// Time is counted in ticks, so that while this program stands still itself at most one of them passes. None is asked
/// for while nobody waits.
struct SilenceMeter: Sendable {
    static let tickTime = Duration.seconds(5)
    /// For so many ticks, two minutes, a daemon may be silent: it answers nobody while it writes to disk the tasks that
    /// somebody else asked about, which may be thousands.
    static let ticks = 24
    /// For each so many tasks that it is asked about it may be silent for one tick more, since it writes each to disk
    /// before it answers.
    static let tasksPerTick = 50

    private var isAwaiting = false
    private var isTicking = false
    private var silentTicks = 0

    /// Takes what has just happened.
    ///
    /// - Parameters:
    ///   - isAwaiting: Whether somebody waits for the daemon now.
    ///   - isHeard: Whether it has just said something.
    /// - Returns: Whether to tick once, later.
    mutating func note(isAwaiting: Bool, isHeard: Bool) -> Bool {
        if isHeard || !self.isAwaiting { silentTicks = 0 }
        self.isAwaiting = isAwaiting
        guard isAwaiting, !isTicking else { return false }
        isTicking = true
        return true
    }

    /// A tick has passed; call ``note(isAwaiting:isHeard:)`` afterwards.
    ///
    /// - Parameter tasks: How many tasks the daemon was asked about.
    /// - Returns: Whether it is silent for too long.
    mutating func tick(tasks: Int) -> Bool {
        isTicking = false
        guard isAwaiting else { return false }
        silentTicks += 1
        // The first one had begun before the silence.
        guard silentTicks > 1 + Self.ticks + tasks / Self.tasksPerTick else { return false }
        silentTicks = 0
        return true
    }
}
