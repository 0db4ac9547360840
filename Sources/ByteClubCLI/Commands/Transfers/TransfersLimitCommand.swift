import ArgumentParser
import ByteClubCore
import ByteClubHTTP

/// The command `byteclub transfers limit`.
struct TransfersLimitCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit",
        abstract: "Show or set the rate limit of all background transfers together.",
        discussion: """
            Without arguments, shows the current limits. A limit is a number of bytes per second as in 500K or 2M, \
            'unlimited', or 'pause', which pauses all transfers. Days and a span of local time before it limit it to \
            that part of each week. Separate limits by ';': the first that matches applies, as in 'byteclub sync \
            --schedule'; without a match there is no limit. New limits replace all previous ones, take effect at \
            once, and persist.

            Examples:
              byteclub transfers limit 2M
              byteclub transfers limit 'mon-fri 09:00-17:00 500K; sat,sun pause; 2M'
            """)

    @Argument(help: "The limits; shown if omitted.")
    var limits: [String] = []

    @OptionGroup var outputOptions: OutputOptions

    /// The limits in force.
    struct Answer: CommandResult {
        /// The limits as typed; the first that applies is used.
        var limits: [String]

        func text(_ style: TextStyle) -> String { limits.joined(separator: "; ") }
    }

    func validate() throws {
        if limits.isEmpty { return }
        do {
            let schedule = try schedule()
            if schedule.spans.isEmpty {
                throw ValidationError(
                    "no limit in '\(limits.joined(separator: " "))'; write 2M, unlimited or pause")
            }
            if let span = schedule.spans.dropLast().first(where: \.holdsAlways) {
                throw ValidationError("no limit after '\(span)' can apply; put it last")
            }
            try RateSchedule(schedule).check()
        } catch let error as SyncError {
            throw ValidationError(error.message)
        } catch let error as TransferError { throw ValidationError(error.message) }
    }

    private func schedule() throws(SyncError) -> SyncSchedule {
        try SyncSchedule(parsing: limits.joined(separator: " "))
    }

    func run(in context: Context) async throws {
        if !limits.isEmpty {
            let (schedule, service) = (RateSchedule(try schedule()), try context.transferService())
            try await context.interrupts.cancelling {
                let control = try await BackgroundControl(service)
                try await control.setSchedule(schedule)
                await control.close()
            }
        }
        let present = SyncSchedule(context.directories.transferService.recordedSchedule)
        try context.print(Answer(limits: present.spans.map(\.description)), json: outputOptions.json)
    }
}

extension RateSchedule {
    /// The same limits at the same times.
    init(_ schedule: SyncSchedule) {
        self.init(spans: schedule.spans.map { Span(days: $0.days, from: $0.start, to: $0.end, rate: $0.rule.rate) })
    }
}

extension SyncSchedule {
    /// Converts the limits of a schedule, with at least one span.
    init(_ schedule: RateSchedule) {
        let always = RateSchedule.Span(from: 0, to: 1_440, rate: schedule.otherwise)
        let isOpen = schedule.otherwise == nil && !schedule.spans.isEmpty
        self.init(
            (schedule.spans + (isOpen ? [] : [always])).map {
                let rule = $0.rate.map { $0 == 0 ? Rule.pause : .limit($0) } ?? .unlimited
                return Span(days: $0.days, start: $0.from, end: $0.to, rule: rule)
            })
    }
}

extension SyncSchedule.Span {
    /// Whether it covers the whole week.
    fileprivate var holdsAlways: Bool { days.count == 7 && end - start == 1_440 }
}

extension SyncSchedule.Rule {
    /// As ``RateSchedule/Span/rate``.
    var rate: Int? {
        switch self {
        case .pause: 0
        case .limit(let rate): rate
        case .unlimited: nil
        }
    }
}
