import ArgumentParser

/// How to reach the club; each flag beats the environment, which beats the settings file.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server's address; else BYTECLUB_SERVER, else where you logged in.", valueName: "url"))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "The shared folder on the server; else BYTECLUB_FOLDER, else /byteclub.", valueName: "path"))
    var folder: String?

    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp("Trust the authorities in this PEM file instead of the system's.", valueName: "file"))
    var certificateAuthorityFile: String?

    @Flag(name: .customLong("insecure-http"), help: "Allow http to other machines: everyone on the way sees all.")
    var allowsInsecureHTTP = false

    /// What the flags set.
    var settings: Settings {
        var settings = Settings()
        settings.server = server
        settings.folder = folder
        settings.certificateAuthorityFile = certificateAuthorityFile
        settings.allowsInsecureHTTP = allowsInsecureHTTP ? true : nil
        return settings
    }
}
