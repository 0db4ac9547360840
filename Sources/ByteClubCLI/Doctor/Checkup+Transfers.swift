import ByteClubHTTP

extension Checkup {
    /// The proxy that the server is asked through; nil when there is none.
    func proxy(_ login: Login) -> Finding? {
        do {
            let request = ServerProbe.request(login)
            guard let proxy = try ProxySettings.environment.server(for: request) else { return nil }
            return .ok("proxy", "\(login.server) is reached through \(proxy), set in the environment")
        } catch {
            return .fail("proxy", error.message, "correct http_proxy, https_proxy or all_proxy in the environment")
        }
    }

    /// What goes on in the background.
    func transfers() async -> Finding {
        let service = context.directories.transferService
        let place = "'\(Failure.line(service.folder))'"
        do {
            guard let control = try await BackgroundControl.running(service) else {
                guard service.hasTasks else { return .ok("transfers", "no background transfers") }
                return .warn("transfers", "in \(place), but no daemon is running", "'byteclub transfers' starts it")
            }
            let all = try await control.tasks()
            await control.close()
            let text = "the daemon is running, \(Self.words(all)), in \(place)"
            guard all.contains(where: { $0.state == .failed }) else { return .ok("transfers", text) }
            return .warn("transfers", text, "'byteclub transfers' shows why; resume or clear them")
        } catch {
            // What it says of a daemon that cannot be used says what to do as well.
            if [.daemonUnavailable, .timedOut].contains(error.code) {
                return .fail("transfers", Failure(.tryAgain, error.message))
            }
            return .fail("transfers", error.message, "run 'byteclub daemon --stop'", .tryAgain)
        }
    }

    /// How many transfers stand how, as in `2 running, 1 failed`.
    static func words(_ all: [BackgroundStatus]) -> String {
        let counts = BackgroundStatus.State.allCases.map { state in (state, all.count { $0.state == state }) }
        let words = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0.rawValue)" }
        return words.isEmpty ? "nothing to do" : words.joined(separator: ", ")
    }
}
