import ArgumentParser

/// How a command that moves many bytes tells how far it is.
struct ProgressOptions: ParsableArguments {
    @Option(help: "Show progress: auto, always (also with --json), never, or json (events on standard error).")
    var progress = ProgressMode.auto

    /// How progress is written.
    func display(_ context: Context, json: Bool) -> ProgressMode.Display {
        progress.display(terminal: context.terminal, environment: context.environment, json: json)
    }
}
