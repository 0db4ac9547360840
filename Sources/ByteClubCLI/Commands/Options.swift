import ArgumentParser
import ByteClubCore

/// How a result is printed.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print the result as JSON.")
    var json = false
}

/// The connection to the club, and how a result is printed.
struct RemoteOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions
}

/// Options for the progress of a transfer.
struct ProgressOptions: ParsableArguments {
    @Option(help: "Show progress: auto, always (also with --json), never, or json (events on standard error).")
    var progress = ProgressMode.auto
}

/// Options for the connection to the club; each flag overrides the environment, which overrides the settings file.
///
/// Hidden in help; ``ConnectionTopic`` describes them once.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server's address; default: BYTECLUB_SERVER, else the stored login.", valueName: "url",
            visibility: TrustOptions.visibility))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "The shared folder on the server; default: BYTECLUB_FOLDER, else /byteclub.", valueName: "path",
            visibility: TrustOptions.visibility))
    var folder: String?

    @OptionGroup var trust: TrustOptions

    /// The settings given as flags.
    var settings: Settings {
        Settings(
            server: server, folder: folder, certificateAuthorityFile: trust.certificateAuthorityFile, pin: trust.pin,
            allowsInsecureHTTP: trust.allowsInsecureHTTP ? true : nil)
    }
}

/// Which servers may be spoken with.
struct TrustOptions: ParsableArguments {
    /// Hidden in help, which refers to ``ConnectionTopic``, and shown to completion scripts.
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

/// Options for the transfer of a photo.
struct TransferOptions: ParsableArguments {
    @Flag(help: "Transfer in the background and return at once; 'byteclub transfers' shows progress.")
    var background = false

    @Option(
        help: ArgumentHelp(
            "Limit bytes per second, as in 500K or 2M; default: BYTECLUB_LIMIT_RATE, else no limit.",
            valueName: "rate"), transform: ByteRate.argument)
    var limitRate: ByteRate?

    @Flag(
        inversion: .prefixedNo,
        help: "With --background, wait while the network is metered; default: BYTECLUB_METERED, which is use or wait.")
    var unmeteredOnly: Bool?

    @OptionGroup var progressOptions: ProgressOptions

    func validate() throws {
        if unmeteredOnly == true, !background { throw ValidationError("--unmetered-only needs --background") }
    }

    /// The recording of transfers for the daemon, with these options.
    func recording(_ context: Context, _ flags: Settings, json: Bool) throws -> BackgroundRecording {
        let waits = try unmeteredOnly ?? context.settings(flags: flags).waitsForUnmetered == true
        return BackgroundRecording(
            context: context, rateLimit: try rate(context, flags), waitsForUnmetered: waits, json: json)
    }

    /// The rate limit: from the flag, else the environment, else the settings file.
    func rate(_ context: Context, _ flags: Settings) throws -> Int? {
        if let limitRate { return limitRate.bytesPerSecond }
        return try ByteRate.setting(context.settings(flags: flags).rateLimit, "limit-rate")
    }
}

extension ByteRate {
    /// Reads a rate from the command line.
    static func argument(_ text: String) throws -> ByteRate {
        guard let rate = ByteRate(text) else { throw ValidationError("write 500K or 2M") }
        return rate
    }

    /// The bytes a second of a setting; nil without one.
    static func setting(_ text: String?, _ name: String) throws -> Int? {
        guard let text else { return nil }
        guard let rate = ByteRate(text) else {
            throw Failure(.configuration, "invalid value '\(text)' for \(name); write 500K or 2M")
        }
        return rate.bytesPerSecond
    }
}
