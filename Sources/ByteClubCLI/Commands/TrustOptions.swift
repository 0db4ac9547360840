import ArgumentParser

/// Which servers may be spoken with.
struct TrustOptions: ParsableArguments {
    /// Helps leave out what ``ConnectionTopic`` describes; completion scripts have it.
    static var visibility: ArgumentVisibility { CompletionScript.isBeingMade ? .default : .hidden }

    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp(
            "Trust the authorities in this PEM file instead of the system's.", valueName: "file",
            visibility: Self.visibility),
        completion: .file())
    var certificateAuthorityFile: String?

    @Option(
        help: ArgumentHelp(
            "Trust the server with this public key alone, as curl writes it: sha256//…", valueName: "key",
            visibility: Self.visibility))
    var pin: String?

    @Flag(
        name: .customLong("insecure-http"),
        help: ArgumentHelp(
            "Allow http to other machines: everyone on the way sees all.", visibility: Self.visibility))
    var allowsInsecureHTTP = false
}
