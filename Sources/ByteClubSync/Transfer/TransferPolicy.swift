import ByteClubCore

/// The rate and the number of transfers of large files, by the limits and the schedule.
struct TransferPolicy: Sendable {
    /// The direction of a transfer.
    enum Direction: Sendable {
        case up
        case down
    }

    /// How large files travel at some time.
    struct Pace: Hashable, Sendable {
        /// How many transfers run at once; none while the schedule pauses them.
        let slots: Int
        /// Bytes a second in each direction; nil for as many as it can.
        let up: Int?
        let down: Int?
    }

    let configuration: SyncConfiguration
    let disk: any Disk

    /// The schedule's current rule; nil when none applies.
    private var rule: SyncSchedule.Rule? {
        if configuration.schedule.spans.isEmpty { return nil }
        let (weekday, minute) = WallClock.localTime(disk.now())
        return configuration.schedule.rule(weekday: weekday, minute: minute)
    }

    /// How large files may travel now.
    var pace: Pace {
        let (up, down) = (limit(.up), limit(.down))
        // One when the rate is limited, so that the limit holds.
        let slots = rule == .pause ? 0 : up == nil && down == nil ? TransferBoard.slots : 1
        return Pace(slots: slots, up: up, down: down)
    }

    /// For how long that holds at least: until the next full minute, when a schedule may change it; nil without one.
    var holdsFor: Duration? {
        if configuration.schedule.spans.isEmpty { return nil }
        let minute: Int64 = 60_000_000_000
        return .nanoseconds(minute - disk.now() % minute)
    }

    /// How many bytes a second a large file may take now; nil for as many as it can.
    private func limit(_ direction: Direction) -> Int? {
        var limits = [direction == .up ? configuration.uploadLimit : configuration.downloadLimit].compactMap(\.self)
        if case .limit(let rate) = rule { limits.append(rate) }
        return limits.min().map { max(1, $0) }
    }

    /// Makes a call that transfers a large file, with the current rate limit.
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
