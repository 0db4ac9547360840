import Synchronization

/// The rate at which a work moves, from how far it says that it is; smoothed over about two seconds.
final class WorkMeter: Sendable {
    private struct State {
        var bytes: Int64?
        var moment: Moment
        var rate: Double = 0
    }

    private let state: Mutex<State>
    private static let window = 2.0
    private static let shortest = 0.1

    init(at now: Moment) { state = Mutex(State(moment: now)) }

    /// Takes note of how far the work is.
    func rate(_ bytes: Int64, at now: Moment) -> Double {
        state.withLock { state in
            // What is there at first was moved before.
            guard let before = state.bytes, bytes >= before else {
                (state.bytes, state.moment) = (bytes, now)
                return state.rate
            }
            let seconds = Double(state.moment.duration(to: now).wholeNanoseconds) / 1e9
            guard seconds >= Self.shortest else { return state.rate }
            let weight = min(seconds / Self.window, 1)
            state.rate += (Double(bytes - before) / seconds - state.rate) * weight
            (state.bytes, state.moment) = (bytes, now)
            return state.rate
        }
    }
}
