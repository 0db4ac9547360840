/// What one look at the set-up found.
struct Finding: Hashable, Sendable, Encodable {
    /// How bad it is.
    enum Outcome: String, Sendable, Encodable, CaseIterable {
        /// As it should be.
        case ok
        /// It works, but not for long or not well.
        case warn
        /// It does not work.
        case fail

        /// The same for a terminal.
        var state: TextStyle.State {
            switch self {
            case .ok: .good
            case .warn: .warning
            case .fail: .bad
            }
        }
    }

    /// What was looked at, in a word.
    var check: String
    /// How bad it is.
    var outcome: Outcome
    /// What was found.
    var message: String
    /// What to do; nil when there is nothing.
    var advice: String?
    /// What to tell the shell when this is the first failure.
    var status = ExitStatus.configuration

    private enum CodingKeys: String, CodingKey { case check, outcome, message, advice }

    static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, outcome: .ok, message: message)
    }

    static func warn(_ check: String, _ message: String, _ advice: String) -> Finding {
        Finding(check: check, outcome: .warn, message: message, advice: advice)
    }

    static func fail(
        _ check: String, _ message: String, _ advice: String?, _ status: ExitStatus = .configuration
    ) -> Finding {
        Finding(check: check, outcome: .fail, message: message, advice: advice, status: status)
    }

    /// A failure of a lower layer, which says itself what to do.
    static func fail(_ check: String, _ failure: Failure) -> Finding {
        let halves = failure.message.split(separator: ";", maxSplits: 1).map(String.init)
        let advice = halves.count > 1 ? String(halves[1].drop { $0 == " " }) : nil
        return fail(check, halves.first ?? failure.message, advice, failure.status)
    }
}
