import ArgumentParser

/// Which mirror a command is about whose arguments name something in it.
struct MirrorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The mirror; else the one that was synced last.", valueName: "dir"), completion: .directory)
    var mirror: String?
}

/// The mirror as a command's only argument.
struct MirrorArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The mirror; else the one that was synced last.", valueName: "dir"),
        completion: .directory)
    var directory: String?
}
