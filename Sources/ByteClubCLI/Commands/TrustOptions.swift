import ArgumentParser

/// Which servers may be spoken with.
struct TrustOptions: ParsableArguments {
    /// Helps leave out what ``ConnectionTopic`` describes; completion scripts have it.
    static var visibility: ArgumentVisibility { CompletionScript.isBeingMade ? .default : .hidden }

    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp(
            "Trust the CAs in this PEM file instead of the system's.", valueName: "file",
            visibility: Self.visibility),
        completion: .file())
    var certificateAuthorityFile: String?

    @Option(
        help: ArgumentHelp(
            "Trust only the server with this public key, in curl's form: sha256//…", valueName: "key",
            visibility: Self.visibility))
    var pin: String?

    @Flag(
        name: .customLong("insecure-http"),
        help: ArgumentHelp(
            "Allow plain HTTP to other machines, readable on the way.", visibility: Self.visibility))
    var allowsInsecureHTTP = false
}
