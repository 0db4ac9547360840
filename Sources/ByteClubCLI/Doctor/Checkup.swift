import ByteClubCore
import ByteClubHTTP

/// Checks a set-up from the settings to the disk.
struct Checkup: Sendable {
    /// The clock difference in seconds from which signed requests and invitations fail.
    static let clockLimit: Int64 = 300
    /// The clock difference in seconds from which to warn.
    static let clockConcern: Int64 = 30

    let context: Context
    let flags: Settings

    /// All findings, in the order of dependencies.
    func findings() async -> [Finding] {
        var findings = [programs(), settings()]
        do {
            let login = try context.login(flags: flags)
            findings.append(.ok("login", "a token for \(login.server) is \(whereTokenIs)"))
            findings += await server(login)
        } catch {
            findings.append(.fail("login", Failure(error)))
        }
        findings.append(await transfers())
        return findings + [mirror()] + contents() + [watches(), disk()]
    }

    private var whereTokenIs: String {
        context.environment["BYTECLUB_TOKEN"].map { !$0.isEmpty } == true
            ? "in BYTECLUB_TOKEN" : "stored, readable only by you"
    }

    private func settings() -> Finding {
        let path = context.directories.settingsFile
        do {
            _ = try context.settings(flags: flags)
        } catch {
            return .fail("settings", Failure(error))
        }
        guard let mode = MachineFacts.mode(path) else { return .ok("settings", "none; using the defaults") }
        if mode & 0o022 != 0 {
            return .warn(
                "settings", "'\(path)' is writable by others", "run \(ShellWord.command("chmod 644", path))")
        }
        return .ok("settings", "'\(path)' is valid")
    }

    private func server(_ login: Login) async -> [Finding] {
        var findings = [proxy(login)].compactMap(\.self)
        let probe: ServerProbe
        do {
            probe = try await context.waiting(for: login.server) { try await context.connector.probe(login) }
        } catch let error as TransferError {
            let failure = Failure(error)
            return findings + [.fail("server", failure.message, error.code.advice, failure.status)]
        } catch {
            return findings + [.fail("server", Failure(error))]
        }
        let milliseconds = Int((probe.seconds * 1000).rounded())
        findings.append(.ok("server", "\(login.server) answers in \(milliseconds) ms"))
        if let date = probe.date { findings.append(clock(context.now() - date.seconds)) }
        let account = account(probe, login)
        findings.append(account)
        if account.outcome == .ok { findings.append(await folder(login)) }
        return findings
    }

    private func clock(_ difference: Int64) -> Finding {
        let text = "this clock is \(Self.words(abs(difference))) \(difference < 0 ? "behind" : "ahead of") the server's"
        if abs(difference) > Self.clockLimit { return .fail("clock", text, "set the clock, preferably by NTP") }
        if abs(difference) > Self.clockConcern { return .warn("clock", text, "set the clock, preferably by NTP") }
        return .ok("clock", "in agreement with the server's")
    }

    /// A duration in words.
    static func words(_ seconds: Int64) -> String {
        let (count, unit) =
            switch seconds {
            case ..<120: (seconds, "second")
            case ..<7_200: (seconds / 60, "minute")
            case ..<172_800: (seconds / 3_600, "hour")
            default: (seconds / 86_400, "day")
            }
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }

    private func account(_ probe: ServerProbe, _ login: Login) -> Finding {
        let fail = { (message: String, advice: String, status: ExitStatus) in
            Finding.fail("account", message, advice, status)
        }
        let status = probe.status
        switch status {
        case 200: break
        case 401, 403:
            return fail("the server rejects the token", "run 'byteclub login \(login.server)'", .notAuthorised)
        case 429, 503: return fail("the server is busy (\(status))", "try again later", .tryAgain)
        case 500...599: return fail("the server failed (\(status))", "ask its host to check its log", .tryAgain)
        default:
            return fail("this is not a club's server (\(status))", "check the server's address", .protocolViolation)
        }
        guard let account = try? JSONReader.read(Account.self, from: probe.body) else {
            return fail("this is not a club's server", "check the server's address", .protocolViolation)
        }
        let name = Failure.line(account.displayName)
        guard let extensions = account.extensions else {
            return .warn(
                "account", "you are \(name); the server supports only Core API v1",
                "moves and deletions are safer with byteclub-server")
        }
        let whole = name + (extensions.club.map { " of \(Failure.line($0))" } ?? "")
        return .ok("account", "you are \(whole); the server supports Core API v1 and extension \(extensions.version)")
    }

    private func folder(_ login: Login) async -> Finding {
        do {
            let count = try await context.withRemote(login) { try await NoteListing.count(login, $0) }
            return .ok("folder", "\(login.folder) has \(count) note\(count == 1 ? "" : "s")")
        } catch {
            return .fail("folder", Failure(error))
        }
    }
}
