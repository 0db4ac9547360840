extension Transfer {
    /// What part of its life a transfer is in.
    enum Stage {
        /// In its origin's queue.
        case waiting
        /// In the multi handle; one of its origin's turns is used.
        case active
        /// Out of the multi handle; what follows is being decided.
        case retired
        /// Waiting for the next attempt.
        case delayed(until: Moment)
        /// Its turn came while it was suspended; it queues again when resumed.
        case parked
        /// User code is asked what to do next.
        case asking
        /// Its result is given.
        case finished

        func canBecome(_ next: Stage) -> Bool {
            switch (self, next) {
            case (.waiting, .active), (.waiting, .parked), (.active, .retired), (.retired, .delayed): true
            case (.retired, .waiting), (.delayed, .waiting), (.parked, .waiting): true
            case (.waiting, .asking), (.retired, .asking), (.delayed, .asking), (.asking, .waiting): true
            case (.asking, .delayed), (.asking, .finished): true
            // A transfer leaves the multi handle before its result is given.
            case (.waiting, .finished), (.retired, .finished), (.delayed, .finished), (.parked, .finished): true
            default: false
            }
        }
    }
}
