import ArgumentParser
import ByteClubCore

/// The command `byteclub status [DIR]`.
struct StatusCommand: MirrorCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the status of a mirror, without touching it or the server.",
        discussion: """
            With --watch it is shown again after each change, until Ctrl-C.

            Examples:
              byteclub status
              byteclub status ~/club --json
              byteclub status --watch
            """)

    @Argument(help: MirrorArgument.help, completion: .names)
    var directory: String?

    @Flag(help: "Show it again after each change, until Ctrl-C.")
    var watch = false

    @OptionGroup var outputOptions: OutputOptions

    /// The state of a mirror.
    struct Result: CommandResult {
        var directory: String
        var status: SyncStatus
        /// Folders on the server that the mirror excludes.
        var leftOut: [String] = []
        /// Running transfers of large files; nil without any.
        var activity: ActivityFile.Activity?
        /// Changes that wait while the mirror is paused; nil when it is not paused, also by a metered network, or when
        /// they are unknown.
        var waiting: SyncWaiting?
        var isVisible: Bool { true }
        /// Whether a person or a metered network keeps the sync from all changes.
        var isOnHold: Bool { status.isPaused || status.waitsForUnmetered }

        func text(_ style: TextStyle) -> String {
            lines(style).map { style.line($0.text, $0.state) }.joined(separator: "\n")
        }

        /// The lines, with a state for those that have one.
        private func lines(_ style: TextStyle) -> [(text: String, state: TextStyle.State?)] {
            guard status.isKnown else { return [("\(directory) was never synced", nil)] }
            let last = status.lastSync.map { "last synced \(style.calendar($0))" } ?? "not fully synced yet"
            var lines: [(text: String, state: TextStyle.State?)] = []
            let add = { (texts: [String], state: TextStyle.State?) in lines += texts.map { ($0, state) } }
            let head =
                "\(directory): \(Self.count(status.files, "file")) in \(Self.count(status.folders, "folder")), "
                + "\(HumanSize.shown(status.bytes)), \(last)"
            add([head], nil)
            if status.isRunning {
                add(["sync is running"], .good)
            } else {
                add(["sync is not running; 'byteclub sync' starts it"], nil)
            }
            if status.pending > 0, waiting == nil { add(["pending: \(status.pending)"], nil) }
            if let activity { add(Self.lines(activity), nil) }
            if status.isPaused {
                let end = status.pausedUntil.map { " until \(style.calendar($0))" } ?? ""
                add(["paused\(end); 'byteclub sync resume' resumes it"], .warning)
            }
            if status.waitsForUnmetered { add([NetworkCost.waiting], .warning) }
            if let waiting { add(["waiting: \(Self.words(waiting))"], nil) }
            if let obstacle = status.obstacle {
                add(["blocked: \(obstacle.message), since \(style.calendar(obstacle.since))"], .bad)
            }
            if let ignored = status.ignored.text { add(["\(ignored); see .byteclubignore"], nil) }
            add(ListedLines.first(leftOut) { "excluded: \($0)/; 'byteclub sync select' includes it" }, nil)
            if let watching = status.watching { add(["watching: \(watching)"], .warning) }
            let problems = ProblemGroup.groups(of: status.problems.map { ($0.path, $0.message) })
            add(ListedLines.first(problems, count: \.count) { "problem: \($0.text)" }, .warning)
            let held = ListedLines.first(status.held) {
                "held: \($0.path) would be removed \($0.side == "local" ? "here" : "on the server")"
            }
            add(held, .warning)
            if let rules = status.heldRules {
                add(["held: .byteclubignore: \(rules.text); the previous rules apply until you decide"], .warning)
            }
            if !status.held.isEmpty || status.heldRules != nil {
                add(["to decide: 'byteclub sync deletes approve' carries it out, 'restore' undoes it"], nil)
            }
            let conflicts = ListedLines.first(status.conflicts) {
                "conflict: \($0.path), \($0.owner) \($0.copy), \(style.calendar($0.at))"
            }
            add(conflicts, .warning)
            if !status.conflicts.isEmpty {
                add(["to resolve: 'byteclub conflicts show PATH' compares, 'resolve PATH --keep SIDE' resolves"], nil)
            }
            return lines
        }

        private static func words(_ waiting: SyncWaiting) -> String {
            let parts = [
                waiting.uploads > 0
                    ? "\(count(waiting.uploads, "file")) to upload, \(HumanSize.shown(waiting.uploadBytes))" : nil,
                waiting.downloads > 0
                    ? "\(count(waiting.downloads, "file")) to download, \(HumanSize.shown(waiting.downloadBytes))"
                    : nil,
                waiting.others > 0 ? count(waiting.others, "other change") : nil,
            ].compactMap(\.self)
            return parts.isEmpty
                ? "no known changes; the server is checked when the sync resumes"
                : parts.joined(separator: "; ")
        }

        /// A line for each large transfer, and one with their rate.
        private static func lines(_ activity: ActivityFile.Activity) -> [String] {
            var lines = ListedLines.first(activity.transfers) { transfer in
                let percent = transfer.total > 0 ? transfer.completed * 100 / transfer.total : 0
                return "transferring: \(transfer.path), \(percent)% of \(HumanSize.shown(transfer.total))"
            }
            if let rate = activity.bytesPerSecond, rate >= 1 {
                let left = activity.secondsLeft.map { ", \(ProgressLine.duration($0)) left" } ?? ""
                lines.append("rate: \(HumanSize.shown(Int64(rate)))/s\(left)")
            }
            return lines
        }

        private static func count(_ number: Int, _ noun: String) -> String {
            "\(number) \(noun)\(number == 1 ? "" : "s")"
        }
    }

    func run(in context: Context, with engine: any MirrorEngine.Type) async throws {
        let place = try MirrorPlace(directory, context)
        if watch { return try await follow(place, engine, context) }
        var status = try result(place, engine)
        if status.isOnHold { status.waiting = try? engine.waiting(of: place.configuration) }
        try context.print(status, json: outputOptions.json)
        if status.status.isKnown, !LocalFile.isDirectory(place.directory) {
            throw Failure(.noInput, "the mirror '\(place.directory)' is gone")
        }
    }

    private func result(_ place: MirrorPlace, _ engine: any MirrorEngine.Type) throws -> Result {
        let status = try engine.status(of: place.configuration)
        return Result(
            directory: place.directory, status: status, leftOut: status.isKnown ? try place.leftOut(engine) : [],
            activity: status.isRunning ? ActivityFile.read(place) : nil)
    }

    /// Clears the terminal and moves to its top (ECMA-48: CUP, ED).
    private static let clearScreen = "\u{1B}[H\u{1B}[2J"

    /// Prints the status after each change: on a terminal in place of the last one, elsewhere after an empty line, as
    /// JSON on a line of its own.
    private func follow(_ place: MirrorPlace, _ engine: any MirrorEngine.Type, _ context: Context) async throws {
        let json = outputOptions.json
        let replaces =
            context.terminal.isOutputTerminal && context.terminal.isErrorTerminal
            && context.environment["TERM"] != "dumb"
        try await context.interrupts.cancelling {
            var told: [UInt8] = []
            // Scanning a mirror's folders is slow: only when the status has changed.
            var paused: (status: SyncStatus, waiting: SyncWaiting?)?
            while true {
                var result = try result(place, engine)
                if result.isOnHold {
                    if paused?.status != result.status {
                        paused = (result.status, try? engine.waiting(of: place.configuration))
                    }
                    result.waiting = paused?.waiting
                }
                let text = Array((result.text(context.style) + "\n").utf8)
                let bytes = json ? try JSON.line(result) : text
                if bytes != told {
                    let isFirst = told.isEmpty
                    told = bytes
                    if json {
                        try context.output.write(bytes)
                    } else {
                        if replaces {
                            try context.diagnostics.write(Self.clearScreen)
                        } else if !isFirst {
                            try context.output.line("")
                        }
                        try context.output.writeVisible(bytes)
                    }
                }
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
