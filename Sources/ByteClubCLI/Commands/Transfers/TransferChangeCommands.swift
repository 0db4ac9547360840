import ArgumentParser
import ByteClubHTTP

/// Which transfers a command is about.
struct TransferSelection: ParsableArguments {
    @Argument(help: "IDs of transfers, or at least 4 digits of each.", completion: .names)
    var ids: [String] = []

    @Flag(help: "All transfers to which this applies.")
    var all = false

    func validate() throws {
        if all != ids.isEmpty { throw ValidationError("give either transfer IDs or --all") }
    }
}

/// A command that changes background transfers.
protocol TransferChangeCommand: LocalCommand {
    var selection: TransferSelection { get }
    var outputOptions: OutputOptions { get }
    /// The change.
    static var change: BackgroundChange { get }
    /// The states in which that makes sense.
    static var states: Set<BackgroundStatus.State> { get }
}

extension TransferChangeCommand {
    func run(in context: Context) async throws {
        let (words, isAll) = (selection.ids, selection.all)
        let (changed, all) = try await context.withTransfers { control in
            let all = try await control?.tasks() ?? []
            let named = Set(isAll ? all.map(\.id) : try TransferIDs(all.map(\.id)).resolve(words))
            let chosen = all.filter { named.contains($0.id) && Self.states.contains($0.state) }
            if !isAll {
                for status in all where named.contains(status.id) && !Self.states.contains(status.state) {
                    let label = TransferObject(status, id: "").label
                    context.note("skipped '\(label)': it is \(status.state.rawValue)")
                }
            }
            guard let control, !chosen.isEmpty else { return ([BackgroundStatus](), all) }
            return (try await control.change(chosen.map(\.id), Self.change), all)
        }
        try context.print(TransferList(changed, of: all), json: outputOptions.json)
    }
}

/// The command `byteclub transfers pause`.
struct TransfersPauseCommand: TransferChangeCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause transfers; transferred data is kept.")
    static let change = BackgroundChange.pause
    static let states: Set<BackgroundStatus.State> = [.waiting, .running]

    @OptionGroup var selection: TransferSelection
    @OptionGroup var outputOptions: OutputOptions
}

/// The command `byteclub transfers resume`.
struct TransfersResumeCommand: TransferChangeCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resume transfers that are paused or have failed.")
    static let change = BackgroundChange.resume
    static let states: Set<BackgroundStatus.State> = [.paused, .failed]

    @OptionGroup var selection: TransferSelection
    @OptionGroup var outputOptions: OutputOptions
}

/// The command `byteclub transfers cancel`.
struct TransfersCancelCommand: TransferChangeCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel transfers; transferred data is discarded.")
    static let change = BackgroundChange.cancel
    static let states: Set<BackgroundStatus.State> = [.waiting, .running, .paused]

    @OptionGroup var selection: TransferSelection
    @OptionGroup var outputOptions: OutputOptions
}

/// The command `byteclub transfers clear`.
struct TransfersClearCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Clear transfers that are done or have failed.")

    @OptionGroup var outputOptions: OutputOptions

    /// The number of cleared transfers.
    struct Answer: CommandResult {
        var forgotten: Int

        func text(_ style: TextStyle) -> String {
            style.lines(["cleared \(forgotten) transfer\(forgotten == 1 ? "" : "s")"])
        }
    }

    func run(in context: Context) async throws {
        let count = try await context.withTransfers { control in
            let finished = try await control?.tasks().filter(\.isFinished) ?? []
            if !finished.isEmpty { try await control?.change(finished.map(\.id), .forget) }
            return finished.count
        }
        try context.print(Answer(forgotten: count), json: outputOptions.json)
    }
}
