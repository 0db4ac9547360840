import ByteClubCore

extension Mirror {
    /// Which way a large file travels.
    enum Direction {
        case up
        case down
    }

    /// What the schedule says now; nil when it says nothing.
    var scheduledRule: SyncSchedule.Rule? {
        if configuration.schedule.spans.isEmpty { return nil }
        let (weekday, minute) = WallClock.localTime(surroundings.disk.now())
        return configuration.schedule.rule(weekday: weekday, minute: minute)
    }

    /// How many bytes a second a large file may take now; nil for as many as it can.
    func limit(_ direction: Direction) -> Int? {
        var limits = [direction == .up ? configuration.uploadLimit : configuration.downloadLimit].compactMap(\.self)
        if case .limit(let rate) = scheduledRule { limits.append(rate) }
        return limits.min().map { max(1, $0) }
    }

    /// How many large files may travel at once: one has all of a line that is limited, so that the limit is kept.
    var transferPlaces: Int {
        if scheduledRule == .pause { return 0 }
        return limit(.up) == nil && limit(.down) == nil ? Self.parallelTransfers : 1
    }

    /// Makes a call that moves a large file's bytes, as fast as it may be made now.
    func limited<Value: Sendable>(
        _ direction: Direction, _ call: @Sendable () async throws(RemoteError) -> Value
    ) async throws(RemoteError) -> Value {
        let result = await TransferRate.$limit.withValue(limit(direction)) { () async -> Result<Value, RemoteError> in
            do throws(RemoteError) {
                return .success(try await call())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
