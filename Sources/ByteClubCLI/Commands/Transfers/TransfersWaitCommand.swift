import ArgumentParser
import ByteClubHTTP

/// The command `byteclub transfers wait`.
struct TransfersWaitCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until transfers have finished.",
        discussion: """
            Without IDs, waits for all transfers, including failed ones that were neither cancelled nor cleared. Exits \
            with 0 when all are done, and with 75 when one has failed, when the remaining ones are paused, or on \
            timeout. Ctrl-C ends only the wait.
            """)

    @Argument(help: "IDs of transfers, or at least 4 digits of each.", completion: .names)
    var ids: [String] = []

    @Option(
        help: ArgumentHelp("Stop waiting after this time, as in 90s, 45m or 2h; default: never.", valueName: "time"),
        transform: TimeSpan.read)
    var timeout: TimeSpan?

    @OptionGroup var progressOptions: ProgressOptions
    @OptionGroup var outputOptions: OutputOptions

    /// The pauses between polls, which grow from the first to the second.
    private static let (shortest, longest) = (Duration.milliseconds(20), Duration.milliseconds(200))

    func run(in context: Context) async throws {
        let (words, timeout) = (ids, timeout)
        let progress = WaitProgress(context, progressOptions.progress.display(context, json: outputOptions.json))
        let wait: TransferWait
        do {
            wait = try await context.withTransfers { control in
                guard let control else {
                    _ = try TransferIDs([]).resolve(words)
                    return TransferWait(for: [])
                }
                return try await Self.wait(for: words, timeout, control, progress, context)
            }
            progress.end()
        } catch {
            progress.end()
            var failure = Failure(error)
            if failure.status == .interrupted { failure.message = "stopped waiting; the transfers continue" }
            throw failure
        }
        if !wait.ended.isEmpty || outputOptions.json {
            try context.print(TransferList(wait.ended), json: outputOptions.json)
        }
        if wait.isHeld {
            throw Failure(
                .tryAgain, "the remaining transfers are paused; 'byteclub transfers resume --all' resumes them")
        }
        if !wait.isOver { throw Failure(.tryAgain, "timed out; the transfers continue") }
        if wait.hasFailures { throw Failure.silent(.tryAgain) }
    }

    private static func wait(
        for words: [String], _ timeout: TimeSpan?, _ control: BackgroundControl, _ progress: WaitProgress,
        _ context: Context
    ) async throws -> TransferWait {
        var (all, pause) = (try await control.tasks(), shortest)
        let named = try TransferIDs(all.map(\.id)).resolve(words)
        // Cancelled transfers are not waited for.
        let open = all.filter { $0.state != .done && $0.failure?.code != "cancelled" }
        var wait = TransferWait(for: words.isEmpty ? open.map(\.id) : named)
        let end = timeout.map { context.uptime() + .seconds($0.seconds) }
        // How many more transfers failed for a reason than the one that was printed.
        var repeated: [String: Int] = [:]
        while true {
            let ended = wait.take(all)
            progress.tell(wait)
            for status in ended where status.state == .failed {
                let reason = status.failure?.message ?? "it failed"
                repeated[reason, default: -1] += 1
                guard repeated[reason] == 0 else { continue }
                context.note("'\(TransferObject(status, id: "").label)' was not transferred: \(reason)")
            }
            if wait.isOver || wait.isHeld || end.map({ context.uptime() >= $0 }) == true {
                for (reason, count) in repeated.sorted(by: { $0.key < $1.key }) where count > 0 {
                    context.note("\(count) more \(count == 1 ? "was" : "were") not transferred: \(reason)")
                }
                return wait
            }
            progress.show(wait)
            try await Task.sleep(for: pause)
            pause = min(pause * 2, longest)
            all = try await control.tasks()
        }
    }
}
