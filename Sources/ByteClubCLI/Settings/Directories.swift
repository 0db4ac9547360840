import ByteClubHTTP

/// Where the program keeps its files, by the XDG base directory rules.
struct Directories: Sendable {
    /// The environment's variables.
    let environment: [String: String]

    /// Settings and credentials.
    var configuration: String { base("XDG_CONFIG_HOME", "/.config") + "/byteclub" }
    /// What mirrors and drafts remember.
    var state: String { base("XDG_STATE_HOME", "/.local/state") + "/byteclub" }
    /// The file with the settings.
    var settingsFile: String { configuration + "/config" }
    /// The file with the token.
    var credentialsFile: String { configuration + "/credentials" }
    /// Texts that are being edited.
    var drafts: String { state + "/drafts" }
    /// Where uploads stand that did not come to their end.
    var uploads: String { state + "/uploads" }
    /// Transfers that go on without the program that began them.
    var transfers: String { state + "/transfers" }
    /// What such transfers of photos need beside their records.
    var transferFiles: String { state + "/transfer-files" }
    /// Mirrors' databases, and which mirror was synced last.
    var mirrors: String { state + "/mirrors" }

    /// A daemon of this user that runs already.
    var transferService: BackgroundService { BackgroundService(folder: transfers, command: []) }

    /// The user's own systemd units.
    var userUnits: String { base("XDG_CONFIG_HOME", "/.config") + "/systemd/user" }

    private func base(_ variable: String, _ fallback: String) -> String {
        // Relative values are to be ignored, says the specification.
        if let value = environment[variable], value.hasPrefix("/") { return value }
        return (environment["HOME"] ?? "") + fallback
    }
}
