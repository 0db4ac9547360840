import ArgumentParser

/// Which servers may be spoken with.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp("Trust the authorities in this PEM file instead of the system's.", valueName: "file"))
    var certificateAuthorityFile: String?

    @Option(
        help: ArgumentHelp(
            "Trust the server with this public key alone, as curl writes it: sha256//…", valueName: "key"))
    var pin: String?

    @Flag(name: .customLong("insecure-http"), help: "Allow http to other machines: everyone on the way sees all.")
    var allowsInsecureHTTP = false
}
