/// What a transfer did about challenges; most transfers have none.
final class ChallengeRecord {
    /// How many credentials were rejected by the current hop's server.
    private var failures = 0
    /// How many were rejected by proxies.
    private var proxyFailures = 0
    /// How often user code was, or will be, asked.
    private var questions = 0
    /// How often a credential that the session had was sent because of a challenge, without asking.
    private var repeats = 0
    /// The last challenge of the current hop's server that was answered.
    var challenged: Keyring.Challenged?
    /// The last one of a proxy.
    var challengedByProxy: Keyring.Challenged?
    /// The spaces that user code will not answer.
    var declined: Set<ProtectionSpace> = []
    /// Which user the cache takes the request to be of, as far as an answer to a challenge says so.
    var identity: String?
    /// The space whose credential it waits for.
    var awaited: ProtectionSpace?
    /// What the last attempt carried for the server.
    var sent: Keyring.Answer?
    /// What the last attempt carried for a proxy.
    var sentToProxy: Keyring.Answer?

    private static let mostFailures = 5
    private static let mostQuestions = 12
    private static let mostRepeats = 8

    /// How many credentials were rejected in one place.
    func failures(ofProxy isOfProxy: Bool) -> Int { isOfProxy ? proxyFailures : failures }

    /// Counts a rejected credential.
    func noteFailure(ofProxy isOfProxy: Bool) { if isOfProxy { proxyFailures += 1 } else { failures += 1 } }

    /// Counts a question; false if there were too many, as with a server that has another realm each time.
    func mayAsk(ofProxy isOfProxy: Bool) -> Bool {
        questions += 1
        return questions <= Self.mostQuestions && failures(ofProxy: isOfProxy) < Self.mostFailures
    }

    /// Begins another hop.
    func leaveHop() {
        failures = 0
        challenged = nil
    }

    /// Counts a repetition; false if there were too many, as with a server that calls every nonce outdated.
    func mayRepeat() -> Bool {
        repeats += 1
        return repeats <= Self.mostRepeats
    }
}

extension Transfer {
    /// What was done about challenges; nil for nothing.
    var challenges: ChallengeRecord? {
        get { work.challenges }
        set { if newValue != nil || work.challenges != nil { underWay.challenges = newValue } }
    }

    /// Which user the cache takes the request to be of; nil without an answer to a challenge.
    var identity: String? {
        get { work.challenges?.identity }
        set { if newValue != nil || work.challenges != nil { challengeRecord.identity = newValue } }
    }

    /// The same as ``challenges``, created when it is first needed.
    var challengeRecord: ChallengeRecord {
        if let record = work.challenges { return record }
        let record = ChallengeRecord()
        underWay.challenges = record
        return record
    }
}
