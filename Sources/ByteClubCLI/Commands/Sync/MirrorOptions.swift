import ArgumentParser

/// Which mirror a command is about whose arguments name something in it.
struct MirrorOptions: ParsableArguments {
    @Option(help: MirrorArgument.help, completion: .directory)
    var mirror: String?
}

/// The mirror as a command's only argument.
struct MirrorArgument: ParsableArguments {
    /// What is meant where no mirror is named.
    static let help = ArgumentHelp(
        "The mirror; default: the one that you are in, else the one synced last.", valueName: "dir")

    @Argument(help: Self.help, completion: .directory)
    var directory: String?
}
