/// The operator's settings as text: flags beat the environment, which beats the file.
struct SettingSource: Sendable {
    private let flags: [SettingName: String]
    private let environment: [SettingName: String]
    private let file: SettingsFile?

    /// Gathers the settings.
    ///
    /// - Parameters:
    ///   - flags: The settings of the command line.
    ///   - environment: The whole environment of the process.
    ///   - path: The settings file; when nil, the one that the environment names.
    /// - Throws: ``CommandFailure`` 78 for an unknown variable or name in the file, and for a file that cannot be read.
    init(flags: [SettingName: String], environment: [String: String], file path: String?) throws(CommandFailure) {
        self.flags = flags
        self.environment = try Self.settings(in: environment)
        file =
            if let path = path ?? environment[SettingName.fileVariable], !path.isEmpty {
                try SettingsFile(path: path)
            } else {
                nil
            }
    }

    /// The text of a setting; nil when it has none, or an empty one.
    func text(_ name: SettingName) -> String? {
        guard let text = flags[name] ?? environment[name] ?? file?.values[name] else { return nil }
        return text.isEmpty ? nil : text
    }

    /// A refusal with the place of a setting, its value and the values it may have; 64 for a flag, else 78.
    func refusal(_ name: SettingName, expected: String, got text: String? = nil) -> CommandFailure {
        let place =
            flags[name] != nil
            ? "'--\(name.rawValue)'"
            : environment[name] != nil
                ? name.variable
                : file?.values[name] != nil ? "'\(name.rawValue)' in '\(file?.path ?? "")'" : name.rawValue
        let value = text.map { "invalid value '\($0)'" } ?? "invalid value"
        return CommandFailure(
            flags[name] != nil ? .usage : .configuration, "\(value) for \(place); must be \(expected)")
    }

    private static func settings(in environment: [String: String]) throws(CommandFailure) -> [SettingName: String] {
        var settings: [SettingName: String] = [:]
        for (variable, text) in environment.sorted(by: { $0.key < $1.key })
        where variable.hasPrefix(SettingName.variablePrefix) && variable != SettingName.fileVariable {
            guard let name = SettingName(variable: variable) else {
                throw CommandFailure(
                    .configuration,
                    "unknown setting \(variable); '\(RootCommand.title) serve --help' lists the settings")
            }
            settings[name] = text
        }
        return settings
    }
}
