import ByteClubCore
import ByteClubHTTP

extension Checkup {
    /// The state of the mirror that was synced last: skipped, held and excluded entries.
    func contents() -> [Finding] {
        guard let engine = context.engine, let place = try? MirrorPlace(nil, context),
            LocalFile.isDirectory(place.state)
        else { return [] }
        let status: SyncStatus
        do {
            status = try engine.status(of: place.configuration)
        } catch {
            return [.fail("contents", Failure(error))]
        }
        guard status.isKnown else { return [] }
        return [problems(status), conflicts(status), held(status), rules(status)].compactMap(\.self)
    }

    private func problems(_ status: SyncStatus) -> Finding? {
        guard let first = ProblemGroup.groups(of: status.problems.map { ($0.path, $0.message) }).first else {
            return nil
        }
        let all = status.problems.count > first.count ? "\(status.problems.count) entries are skipped; " : ""
        return .warn("problems", Failure.line(all + first.text), "run 'byteclub status'")
    }

    private func conflicts(_ status: SyncStatus) -> Finding? {
        guard let first = status.conflicts.first else { return nil }
        let more = status.conflicts.count > 1 ? ", and \(status.conflicts.count - 1) more" : ""
        let text = Failure.line("\(first.path) is not resolved, \(first.owner) is beside it\(more)")
        return .warn("conflicts", text, "run 'byteclub conflicts'")
    }

    private func held(_ status: SyncStatus) -> Finding? {
        var parts: [String] = []
        if !status.held.isEmpty {
            parts.append("\(status.held.count) deletion\(status.held.count == 1 ? "" : "s") held for your approval")
        }
        if let rules = status.heldRules { parts.append(".byteclubignore: \(rules.text)") }
        if parts.isEmpty { return nil }
        return .warn("held", parts.joined(separator: "; "), "run 'byteclub sync deletes review'")
    }

    private func rules(_ status: SyncStatus) -> Finding {
        .ok("ignored", status.ignored.text ?? "ignore rules exclude nothing")
    }
}

extension Checkup {
    /// The proxy between this machine and the server; nil without one.
    func proxy(_ login: Login) -> Finding? {
        do {
            let request = ServerProbe.request(login)
            guard let proxy = try ProxySettings.environment.server(for: request) else { return nil }
            return .ok("proxy", "\(login.server) is reached through \(proxy), set in the environment")
        } catch {
            return .fail("proxy", error.message, "correct http_proxy, https_proxy or all_proxy in the environment")
        }
    }

    /// The state of background transfers.
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
            // These messages include their advice.
            if [.daemonUnavailable, .timedOut].contains(error.code) {
                return .fail("transfers", Failure(.tryAgain, error.message))
            }
            return .fail("transfers", error.message, "run 'byteclub daemon --stop'", .tryAgain)
        }
    }

    /// Transfers by state, as in `2 running, 1 failed`.
    static func words(_ all: [BackgroundStatus]) -> String {
        let counts = BackgroundStatus.State.allCases.map { state in (state, all.count { $0.state == state }) }
        let words = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0.rawValue)" }
        return words.isEmpty ? "nothing to do" : words.joined(separator: ", ")
    }
}
