import Glibc
import Synchronization

@testable import ByteClubHTTP

/// Uses sessions as badly as users and servers do, for minutes or hours, and holds them to what they promise.
///
/// In rounds: sessions come and go for half a minute, then all must be as before: no transfer, handle, session, file,
/// descriptor or thread is left, and the heap is as large as it was. Ends with 0 when no promise was broken, else 1.
@main
struct SessionSoak {
    private static let isStopped = Atomic(false)
    private static let roundTime = Duration.seconds(30)
    private static let sessionsAtOnce = 3
    /// Rounds that may still fill pools and caches of the process.
    private static let warmUp = 3
    /// Handles that the shared session keeps for its next tasks: one for each worker at most.
    private static let mostSharedHandles = 3 * 6

    private var folder = ""
    private var duration = Duration.seconds(60)
    private var seed = UInt64.random(in: 1...1 << 32)
    private var tls: TLSServer?

    static func main() {
        var soak = SessionSoak()
        let arguments = CommandLine.arguments
        for index in stride(from: 1, to: arguments.count - 1, by: 2) {
            let value = arguments[index + 1]
            switch arguments[index] {
            case "--minutes": soak.duration = Double(value).map { .seconds($0 * 60) } ?? soak.duration
            case "--seed": soak.seed = UInt64(value) ?? soak.seed
            case "--folder": soak.folder = value
            case "--tls":
                soak.tls = TLSServer(value)
                if soak.tls == nil { soak.folder = "" }
            default: soak.folder = ""
            }
        }
        guard !soak.folder.isEmpty else {
            say("usage: session-soak --folder DIR [--minutes N] [--seed S] [--tls HOST:PORT,CERTIFICATE,PIN]")
            exit(64)
        }
        // Blocked before there is another thread, which would be ended by them.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let ready = soak
        Task.detached {
            do { exit(try await ready.run() ? 0 : 1) } catch {
                say("session-soak: cannot start: \(error)")
                exit(71)
            }
        }
        // SIGTERM and SIGINT end the round that runs, and then the soak.
        while true {
            var number = Int32(0)
            sigwait(&signals, &number)
            isStopped.store(true, ordering: .relaxed)
        }
    }

    private func run() async throws -> Bool {
        say("seed \(seed), \(duration), \(tls == nil ? "without" : "with") TLS, \(folder)")
        let world = try World(folder: folder, tls: tls, seed: seed)
        try Self.endWhenOverdue(world)
        var random = Seeded(seed: seed)
        var rounds: [Vitals] = []
        let (start, end) = (ContinuousClock.now, ContinuousClock.now + duration)
        while !Self.isOver(end) {
            await Self.round(world, &random, until: min(end, .now + Self.roundTime))
            let vitals = await Self.settle(world, after: rounds)
            rounds.append(vitals)
            if rounds.count % 10 <= 1 {
                say(
                    "round \(rounds.count): \(world.ledger.requests) requests, \(world.ledger.violations) violations; \(vitals)"
                )
            }
            world.ledger.forgetPosts()
        }
        Self.judgeMemory(rounds, world.ledger)
        if rounds.count >= 10 { Coverage.judge(world) }
        Self.summarize(world, rounds, ContinuousClock.now - start)
        return world.ledger.violations == 0
    }

    private static func isOver(_ end: ContinuousClock.Instant) -> Bool {
        isStopped.load(ordering: .relaxed) || end <= .now
    }

    private static func round(_ world: World, _ random: inout Seeded, until end: ContinuousClock.Instant) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<sessionsAtOnce {
                var seeded = random.split()
                group.addTask {
                    while !isOver(end) { await SessionLife(world: world).run(seeded.split()) { isOver(end) } }
                }
            }
        }
        world.discardParked()
    }

    /// Waits until nothing of the round is left, and says what is.
    private static func settle(_ world: World, after rounds: [Vitals]) async -> Vitals {
        let base = rounds.count >= warmUp ? rounds[warmUp - 1] : nil
        var problems: [String] = []
        // Lookups, stalling servers and dropped sessions end by themselves.
        for _ in 0..<400 {
            let vitals = Vitals.now
            problems = []
            if vitals.transfers != 0 || vitals.handles > mostSharedHandles { problems.append("\(vitals)") }
            if world.living != 0 {
                problems.append("\(world.living) sessions, delegates, monitors, buses and evaluators live")
            }
            // Dispatch keeps its workers for as long as it likes, at most one for each processor and two more.
            let workers = sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 2
            if let base, vitals.descriptors > base.descriptors || vitals.threads > base.threads + workers {
                problems.append("\(vitals) instead of \(base)")
            }
            let files = Vitals.names(in: world.folder).filter { !$0.hasPrefix("session-") }
            if !files.isEmpty { problems.append("files \(files)") }
            let connections = (world.origins + [world.proxy]).flatMap(\.connections)
            if !connections.isEmpty { problems.append("connections: \(connections.joined(separator: ", "))") }
            if problems.isEmpty { return vitals }
            try? await Task.sleep(for: .milliseconds(50))
        }
        world.ledger.violation("after round \(rounds.count + 1) there is left: \(problems.joined(separator: "; "))")
        for name in Vitals.names(in: world.folder) { unlink("\(world.folder)/\(name)") }
        return .now
    }

    /// The heap at rest does not grow from round to round.
    private static func judgeMemory(_ rounds: [Vitals], _ ledger: Ledger) {
        let settled = rounds.dropFirst(warmUp)
        guard settled.count >= 12 else { return say("(too few rounds to judge the memory)") }
        func median(_ part: some Sequence<Int>) -> Int {
            let sorted = part.sorted()
            return sorted[sorted.count / 2]
        }
        let third = settled.count / 3
        for (name, bytes, slack) in [("heap", \Vitals.heapBytes, 1 << 20), ("rss", \Vitals.residentBytes, 24 << 20)] {
            let first = median(settled.prefix(third).map { $0[keyPath: bytes] })
            let last = median(settled.suffix(third).map { $0[keyPath: bytes] })
            say("\(name) at rest, medians of the first and last \(third) rounds: \(first >> 10) and \(last >> 10) KiB")
            if last > first + first / 10 + slack {
                ledger.violation("the \(name) grows from \(first) to \(last) bytes")
            }
        }
    }

    private static func summarize(_ world: World, _ rounds: [Vitals], _ time: Duration) {
        let ledger = world.ledger
        for (key, count) in ledger.outcomes.sorted(by: { $0.key < $1.key }) { say("  \(key): \(count)") }
        say(
            "faults: "
                + ledger.faults.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
        if let first = rounds.dropFirst(min(warmUp, rounds.count) - 1).first, let last = rounds.last {
            say("after the warm-up: \(first)\nat the end: \(last)")
        }
        let tasks = ledger.outcomes.values.reduce(0, +)
        say(
            "\(ledger.requests) requests, \(tasks) outcomes, \(rounds.count) rounds in \(time.components.seconds) s: "
                + "\(ledger.violations) promises broken")
    }

    /// What hangs ends the program, since nothing else would.
    private static func endWhenOverdue(_ world: World) throws {
        try OwnThread.start {
            while true {
                sleep(2)
                let overdue = world.watch.overdue
                guard !overdue.isEmpty else { continue }
                say("VIOLATION: these hang: \(overdue.joined(separator: ", ")); \(Vitals.now)")
                if getenv("SOAK_WAIT_FOR_DEBUGGER") != nil { sleep(3_600) }
                _exit(1)
            }
        }
    }
}
