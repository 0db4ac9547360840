import Glibc
import TestSupport

/// The options of a siege.
struct SiegePlan: Sendable {
    /// An empty folder to work in.
    var work = ""
    /// Seconds of the quiet time and the siege together.
    var seconds = 1_200.0
    /// The seed of the members' choices.
    var seed: UInt64 = 1
    /// The size of the attacks in percent; less than 100 is for tests of this tool.
    var percent = 100
    /// How many members save notes and look at photos.
    var members = 16
    /// The folder of another release's programs, to be measured the same way.
    var beside: String?
    /// A part of the names of the attacks to run; all run when empty.
    var only = ""
    /// Whether the figures are printed as JSON.
    var isJSON = false

    /// Seconds before anything is measured.
    var warmUp: Double { min(5, seconds / 10) }
    /// Seconds of a quiet server, which the siege is measured by.
    var quiet: Double { seconds / 4 }
    /// Seconds of the siege.
    var siege: Double { seconds - quiet }
    /// How many names the folder has that attackers list and search.
    var names: Int { max(200, 20_000 * percent / 100) }

    /// Options that make no sense, with the reason in one line.
    struct UsageError: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            if flag == "--json" {
                isJSON = true
                continue
            }
            guard let value = rest.popFirst() else { throw UsageError(description: "\(flag) needs a value") }
            let number = Double(value).flatMap { $0 > 0 ? $0 : nil }
            switch (flag, number) {
            case ("--work", _): work = value
            case ("--beside", _): beside = value
            case ("--only", _): only = value
            case ("--minutes", let number?): seconds = number * 60
            case ("--seed", let number?): seed = UInt64(number)
            case ("--percent", let number?): percent = Int(number.rounded(.up))
            case ("--members", let number?) where number <= 200: members = Int(number)
            default: throw UsageError(description: "'\(flag) \(value)' makes no sense")
            }
        }
        if work.isEmpty { throw UsageError(description: "--work DIR is missing") }
    }
}

/// A day on the Internet: all attacks at once on a server that honest members use meanwhile.
///
/// `Siege --work DIR [--minutes N] [--seed N] [--percent N] [--members N] [--only ATTACK] [--beside DIR] [--json]`; exits
/// 1 when a bar is missed.
@main
enum Siege {
    static func main() async {
        do {
            exit(try await run(Array(CommandLine.arguments.dropFirst())) ? 0 : 1)
        } catch {
            note("\(error)")
            exit(1)
        }
    }

    /// Runs it against this build, then against the release beside it; returns whether this build kept all bars.
    private static func run(_ arguments: [String]) async throws -> Bool {
        let plan = try SiegePlan(arguments)
        Crowd.raiseDescriptorLimit()
        var outcomes = [try await measure(plan, "this build", programs: Program.directory)]
        if let beside = plan.beside { outcomes.append(try await measure(plan, beside, programs: beside)) }
        let report = SiegeReport(plan: plan, outcomes: outcomes)
        print(plan.isJSON ? report.json : report.text)
        let missed = outcomes[0].bars.filter { !$0.isKept }
        for bar in missed { note("failed: \(bar.name): \(bar.figure), where \(bar.bound) is right") }
        return missed.isEmpty
    }

    private static func note(_ text: String) {
        let line = "siege: \(text)\n"
        _ = unsafe line.withCString { unsafe write(STDERR_FILENO, $0, line.utf8.count) }
    }

    private static func measure(_ plan: SiegePlan, _ name: String, programs: String) async throws -> SiegeOutcome {
        let folder = plan.work + "/club"
        TemporaryDirectory.remove(folder)
        LocalFiles.makeFolder(folder)
        defer { TemporaryDirectory.remove(folder) }
        note("\(name): filling a club")
        let club = try await SiegeClub.open(in: folder, programs: programs, plan: plan)
        let attacks = try await SiegeAttacks(club: club, plan: plan, form: form(port: club.port)).all
            .filter { plan.only.isEmpty || $0.name.contains(plan.only) }
        let day = ClubDay(photos: club.photos)
        let watch = ServerWatch(club, day: day)
        async let requests = honestRequests(club, plan, day)

        try await Task.sleep(for: .seconds(plan.warmUp))
        note("\(name): quiet for \(Int(plan.quiet)) s")
        let quiet = day.now
        try await Task.sleep(for: .seconds(plan.quiet))
        note("\(name): under siege for \(Int(plan.siege)) s")
        let start = day.now
        let force = AttackForce(attacks: attacks, port: club.port)
        let attacked = await BackgroundThread.run { force.run(for: plan.siege) }
        let end = day.now
        note("\(name): over; waiting until the server has come back")
        var outcome = SiegeOutcome(
            name: name, quiet: quiet..<start, siege: start..<end, after: end..<day.now, attacks: attacked)
        // Requests of the last second may be slow; the server has a minute.
        let patience = min(SiegeOutcome.timeToComeBack, plan.seconds)
        repeat {
            try await Task.sleep(for: .seconds(1))
            outcome.after = end..<day.now
            outcome.samples = watch.seen
        } while day.now < end + patience && (day.now < end + min(5, patience) || !outcome.isBackForGood)
        day.end()
        outcome.peakMemory = ProcessorTime.peakMemory(of: club.pid)
        outcome.requests = await requests
        outcome.hasCrashed = club.server.process?.hasEnded ?? true
        let stopped = await club.server.stop()
        outcome.hasStopped = stopped?.status == 0
        return outcome
    }

    private static func honestRequests(_ club: SiegeClub, _ plan: SiegePlan, _ day: ClubDay) async -> [HonestRequest] {
        await withTaskGroup(of: [HonestRequest].self) { group in
            for (index, account) in club.members.enumerated() {
                let (port, seed) = (club.port, plan.seed)
                group.addTask {
                    await BackgroundThread.run {
                        HonestMember(index + 1, account, port: port, day: day, seed: seed).run()
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// The sign-in page, as attackers have looked at it once.
    private static func form(port: UInt16) async throws -> SignInForm {
        let page = await BackgroundThread.run {
            HouseholdConnection(port: port, from: .server)?.exchange(RawRequest.get("/login", token: nil))
        }
        guard let page, page.status == 200 else { throw Stopwatch.Failure(description: "there is no sign-in page") }
        var form = SignInForm()
        form.take(page)
        return form
    }
}
