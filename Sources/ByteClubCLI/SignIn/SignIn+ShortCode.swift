import ByteClubCore
import ByteClubRemotes

extension SignIn {
    /// Signs in by a short code that a member types in a browser on any machine; nil when the server has no codes.
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

    /// Polls until a member has decided or the first code has expired; requests a new code when the server has lost
    /// one.
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

/// The interval between polls for a short code (RFC 8628 section 3.5), in seconds.
struct AskingPace {
    private static let penalty = 5
    private static let longest = 60

    private var interval: Int
    /// Seconds until the next poll.
    private(set) var pause: Int

    /// Begins with the server's interval.
    init(interval: Int) {
        self.interval = interval
        pause = interval
    }

    /// The server has responded: return to its interval.
    mutating func answered() { pause = interval }

    /// The server requests a longer interval.
    mutating func slowDown() {
        interval = min(interval + Self.penalty, Self.longest)
        pause = interval
    }

    /// The server has not responded: double the pause.
    mutating func failed() { pause = min(max(pause, 1) * 2, Self.longest) }
}
