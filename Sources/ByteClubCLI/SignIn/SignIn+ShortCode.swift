import ByteClubCore
import ByteClubRemotes

extension SignIn {
    /// Has a short code typed in a browser on any machine, and waits for the answer; nil where the server has no codes.
    func byShortCode() async throws -> String? {
        let request = try DeviceSignIn(
            origin: server.origin, device: Self.hostName(), allowsInsecureHTTP: trust.allowsInsecureHTTP ?? false)
        guard let code = try await context.connector.shortCode(request, trust) else { return nil }
        try showInvitation(then: ClubPage.device(code))
        try show(code)
        return try await context.interrupts.cancelling { try await answer(to: request, code) }
    }

    private func show(_ code: DeviceSignIn.Code) throws {
        let minutes = max(1, code.lifetime / 60)
        try context.diagnostics.write(
            """
            Open this page in a browser on any machine: \(Failure.line(code.page))
            Type this code there, within \(minutes) minute\(minutes == 1 ? "" : "s"): \(Failure.line(code.text))

            """)
    }

    /// Asks until a member has decided or the time of the first code is over; a code that the server has forgotten is
    /// followed by a new one.
    private func answer(to request: DeviceSignIn, _ first: DeviceSignIn.Code) async throws -> String {
        let end = context.uptime() + .seconds(first.lifetime)
        var code = first
        var pace = AskingPace(interval: first.interval)
        while true {
            try await Task.sleep(for: .seconds(pace.pause))
            let isLate = context.uptime() >= end
            do {
                switch try await context.connector.shortCodeAnswer(request, code, trust) {
                case .token(let token): return token
                case .refused: throw Failure(.notAuthorised, "access was refused")
                case .pending: pace.answered()
                case .slowDown: pace.slowDown()
                case .over:
                    guard !isLate, let fresh = try await context.connector.shortCode(request, trust) else { break }
                    try context.diagnostics.write("The server no longer knows that code; it may have restarted.\n")
                    try show(fresh)
                    (code, pace) = (fresh, AskingPace(interval: fresh.interval))
                }
            } catch let error as RemoteError where error.isRetryable && !isLate {
                pace.failed()
            }
            if isLate { throw Failure(.tryAgain, "the code was not entered in time; run 'byteclub login' again") }
        }
    }
}

/// How long to wait between two questions for the answer to a short code (RFC 8628 section 3.5), in seconds.
struct AskingPace {
    private static let penalty = 5
    private static let longest = 60

    private var interval: Int
    /// How long to wait before the next question.
    private(set) var pause: Int

    /// Begins with the interval that the server told.
    init(interval: Int) {
        self.interval = interval
        pause = interval
    }

    /// The server answered: from now on as it wants.
    mutating func answered() { pause = interval }

    /// The server wants to be asked less often, from now on.
    mutating func slowDown() {
        interval = min(interval + Self.penalty, Self.longest)
        pause = interval
    }

    /// The server did not answer: twice as long until it does.
    mutating func failed() { pause = min(max(pause, 1) * 2, Self.longest) }
}
