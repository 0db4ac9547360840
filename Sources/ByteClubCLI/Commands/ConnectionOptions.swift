import ArgumentParser

/// How to reach the club; each flag beats the environment, which beats the settings file.
///
/// Helps leave these options out; ``ConnectionTopic`` describes them once.
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

    /// What the flags set.
    var settings: Settings {
        var settings = Settings()
        settings.server = server
        settings.folder = folder
        settings.certificateAuthorityFile = trust.certificateAuthorityFile
        settings.pin = trust.pin
        settings.allowsInsecureHTTP = trust.allowsInsecureHTTP ? true : nil
        return settings
    }
}
