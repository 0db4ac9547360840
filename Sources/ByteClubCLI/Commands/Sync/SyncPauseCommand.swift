import ArgumentParser
import ByteClubCore

/// The command `byteclub sync pause [DIR]`.
struct SyncPauseCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause a mirror's sync, for a while or until it is resumed.",
        discussion: """
            A running sync finishes its current step, including large files in transfer, and then waits. Changes made \
            meanwhile are found when it resumes. A time is a number with s, m, h, d or w, as in 90s or 1h30m.

            Examples:
              byteclub sync pause
              byteclub sync pause --for 2h ~/club
            """)

    @Option(
        name: .customLong("for"), help: ArgumentHelp("Resume automatically after this time.", valueName: "time"),
        transform: TimeSpan.read)
    var time: TimeSpan?

    @OptionGroup var mirror: MirrorArgument
    @OptionGroup var outputOptions: OutputOptions

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> PauseState {
        try engine.pause(place.configuration, for: time.map { .seconds($0.seconds) })
        let status = try engine.status(of: place.configuration)
        return PauseState(directory: place.directory, isPaused: status.isPaused, pausedUntil: status.pausedUntil)
    }
}

/// The command `byteclub sync resume [DIR]`.
struct SyncResumeCommand: MirrorRequest {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume a mirror's paused sync.",
        discussion: """
            Example:
              byteclub sync resume
            """)

    @OptionGroup var mirror: MirrorArgument
    @OptionGroup var outputOptions: OutputOptions

    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> PauseState {
        let wasPaused = try engine.resume(place.configuration)
        return PauseState(
            directory: place.directory, wasPaused: wasPaused,
            isRunning: try engine.status(of: place.configuration).isRunning)
    }
}

/// Whether a mirror is paused.
struct PauseState: CommandResult {
    var directory: String
    var isPaused = false
    /// In seconds since 1970; nil for a pause without an end.
    @OptionalJSONMoment var pausedUntil: Int64? = nil
    /// Whether it was paused before.
    var wasPaused: Bool?
    /// Whether a sync of it runs, which resumes now.
    var isRunning: Bool?

    func text(_ style: TextStyle) -> String {
        style.lines([line(style)])
    }

    private func line(_ style: TextStyle) -> String {
        if isPaused {
            let end = pausedUntil.map { "until \(style.calendar($0)) or" } ?? "until"
            return "\(directory) is paused \(end) 'byteclub sync resume'"
        }
        if wasPaused == false { return "\(directory) was not paused" }
        return "\(directory) is resumed" + (isRunning == false ? "; no sync of it is running" : "")
    }
}
