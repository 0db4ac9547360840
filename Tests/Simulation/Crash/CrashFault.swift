/// What befalls an engine at one of its calls.
enum CrashFault: Hashable, Sendable, CustomStringConvertible {
    /// Its process ends; what it has told the system stays.
    case kill
    /// The machine loses its power: what was not synced is lost, kept or torn, as a seed decides.
    case powerCut(UInt64)
    /// It loses its power, and once more while it recovers.
    case twice(UInt64)
    /// The call fails, and the engine is started anew.
    case failure
    /// The call fails, and the engine goes on.
    case survivedFailure

    /// Those that are always tried; the rest costs as much again.
    static let usual: [Self] = [.kill, .powerCut(1), .twice(2), .survivedFailure]
    static let all: [Self] = usual + [.powerCut(3), .powerCut(4), .twice(5), .failure]

    /// Whether it makes a difference at calls that only read; an engine that is stopped before one leaves the same as
    /// before the next one that does more.
    var concernsReads: Bool { self == .survivedFailure }

    var description: String {
        switch self {
        case .kill: "kill"
        case .powerCut(let seed): "power-cut-\(seed)"
        case .twice(let seed): "twice-\(seed)"
        case .failure: "failure"
        case .survivedFailure: "survived-failure"
        }
    }
}
