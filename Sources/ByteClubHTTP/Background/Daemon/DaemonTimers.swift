/// When a daemon's loop has to do what, besides its tasks' times.
struct DaemonTimers {
    enum Name: CaseIterable {
        /// Nobody wanted anything for long enough.
        case idle
        /// The network has settled.
        case network
        /// How far works are is to be told.
        case progress
        /// What could not be written is to be written.
        case unsaved
        /// What is not needed is to be given back.
        case quiet, rest
        /// Connections are accepted again.
        case accepting
        /// Works had their time to end.
        case ending
    }

    private var times: [Name: Moment] = [:]

    /// The earliest.
    var next: Moment { times.values.min() ?? .distantFuture }

    func isSet(_ name: Name) -> Bool { times[name] != nil }

    /// Sets a timer; one that is set stays, but for those of quiet and rest, which begin anew.
    ///
    /// Nil takes it back.
    mutating func set(_ name: Name, _ time: Duration?, from now: Moment) {
        guard let time else { return times[name] = nil }
        if name == .quiet || name == .rest || times[name] == nil { times[name] = now.advanced(by: time) }
    }

    /// Takes those whose time has come.
    mutating func take(until now: Moment) -> [Name] {
        let due = Name.allCases.filter { times[$0].map { $0 <= now } == true }
        for name in due { times[name] = nil }
        return due
    }
}
