import CLibcurl

/// What a session knows about the trust in servers: its evaluator's verdicts, and the questions without an answer.
///
/// Only the loop's thread uses it.
final class TrustBook {
    /// What a verdict is about.
    struct Subject: Hashable, Sendable {
        let origin: Origin
        /// The SHA-256 of each certificate by which the server was verified, in their order.
        let digests: [UInt8]
    }

    /// A question, with the transfers that wait for its answer.
    struct Question {
        let number: UInt64
        var waiting: [Transfer]
        var task: Task<Void, Never>?
    }

    /// The answer of user code.
    struct Answer: Sendable {
        let subject: Subject
        /// The number of the question.
        let number: UInt64
        let isTrusted: Bool
    }

    /// The maximum number of verdicts; above it all are dropped, and servers are asked about again.
    private static let mostVerdicts = 1024

    var questions: [Subject: Question] = [:]
    private var verdicts: [Subject: Bool] = [:]
    private var lastNumber: UInt64 = 0

    /// The verdict about a server; nil if there is none yet.
    func verdict(about subject: Subject) -> Bool? { verdicts[subject] }

    /// Notes an answer and returns the transfers that waited for it; none if nothing waits for it any more.
    func take(_ answer: Answer) -> [Transfer] {
        guard let question = questions[answer.subject], question.number == answer.number else { return [] }
        questions[answer.subject] = nil
        if verdicts.count >= Self.mostVerdicts { verdicts = [:] }
        verdicts[answer.subject] = answer.isTrusted
        return question.waiting
    }

    /// The number of the next question.
    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Whether there is a question about an origin.
    func isAsking(about origin: Origin) -> Bool { questions.keys.contains { $0.origin == origin } }
}

/// What a transfer does about the trust in servers; only in sessions with an evaluator.
final class TrustRecord {
    /// A server without a verdict to which the transfer has a connection.
    struct Unjudged {
        let subject: TrustBook.Subject
        let trust: ServerTrust
    }

    let book: TrustBook
    /// Whether only a server's own certificate was verified.
    let isPinned: Bool
    /// Why the last attempt was given up.
    var unjudged: Unjudged?
    /// The server whose verdict it waits for.
    var awaited: TrustBook.Subject?
    private var questions = 0

    private static let mostQuestions = 8

    init(_ book: TrustBook, isPinned: Bool) {
        self.book = book
        self.isPinned = isPinned
    }

    /// Counts a question; false if there were too many, as with a server that has another certificate each time.
    func mayAsk() -> Bool {
        questions += 1
        return questions <= Self.mostQuestions
    }

    /// Begins another hop, or a request on a connection to a server that was accepted.
    func reset() { questions = 0 }
}

extension Transfer {
    /// What it does about the trust in servers; nil without an evaluator, and before the first attempt.
    var trust: TrustRecord? { work.trust }

    /// Whether the server at the other end of the connection is trusted; if not, why is recorded.
    ///
    /// It judges the certificates of the very connection that the request is about to be sent over, whoever made it.
    func isTrusted(by record: TrustRecord) -> Bool {
        let origin = head.url.origin
        guard origin.scheme == .https else { return true }
        guard let easy = attempt.easy else { return false }
        do throws(CertificateReader.Failure) {
            let reader = try CertificateReader(easy, onlyOwn: record.isPinned)
            let subject = TrustBook.Subject(origin: origin, digests: try reader.digests())
            switch record.book.verdict(about: subject) {
            case true:
                record.reset()
                return true
            case false: attempt.failure = refusal
            case nil:
                let trust = ServerTrust(
                    host: origin.host, port: origin.port, certificates: try reader.certificates(),
                    publicKey: try reader.publicKey())
                record.unjudged = TrustRecord.Unjudged(subject: subject, trust: trust)
            }
        } catch {
            attempt.failure = self.error(error.code, error.message, phase: .tls)
        }
        // The connection, which HTTP/2 would keep, would meet later requests to this host.
        easy.set(CURLOPT_FORBID_REUSE, 1)
        return false
    }

    /// The error of a transfer whose server the evaluator does not trust.
    var refusal: TransferError { error(.tls, "the trust evaluator refuses the server's certificate", phase: .tls) }
}
