import Configuration

/// What was set: flags beat the environment, which beats the file.
struct SettingSource: Sendable {
    private let flags: [SettingName: String]
    private let environment: [SettingName: String]
    private let file: SettingsFile?
    private let reader: ConfigReader

    /// Gathers what was set.
    ///
    /// - Parameters:
    ///   - flags: What the command line sets.
    ///   - environment: All of the process's environment.
    ///   - path: The settings file; the environment's is read when this is nil.
    /// - Throws: ``CommandFailure`` 78 for a variable or a name in the file that there is not, and for a file that
    ///   cannot be read.
    init(
        flags: [SettingName: String], environment: [String: String], file path: String?
    ) async throws(CommandFailure) {
        self.flags = flags
        self.environment = try Self.settings(in: environment)
        file =
            if let path = path ?? environment[SettingName.fileVariable], !path.isEmpty {
                try await SettingsFile(path: path)
            } else {
                nil
            }
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, text) in flags {
            values[AbsoluteConfigKey([name.rawValue])] = ConfigValue(.string(text), isSecret: false)
        }
        let variables = EnvironmentVariablesProvider(
            environmentVariables: environment.filter { $0.key.hasPrefix(SettingName.variablePrefix) })
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "flags", values: values), variables.prefixKeys(with: ["byteclub", "server"]),
        ]
        if let provider = file?.provider { providers.append(provider) }
        reader = ConfigReader(providers: providers)
    }

    /// The text that a setting was given; nil when it was given none, or an empty one.
    ///
    /// - Throws: ``CommandFailure`` 78 for something in the file that is no single value or list of them.
    func text(_ name: SettingName) throws(CommandFailure) -> String? {
        let key = ConfigKey([name.rawValue])
        if let text = reader.string(forKey: key) ?? reader.stringArray(forKey: key)?.joined(separator: ",") {
            return text.isEmpty ? nil : text
        }
        if file?.names.contains(name) == true { throw refusal(name, expected: "a value") }
        return nil
    }

    /// A refusal that says where a setting was given which value, and what was expected; 64 for a flag, else 78.
    func refusal(_ name: SettingName, expected: String, got text: String? = nil) -> CommandFailure {
        let place =
            flags[name] != nil
            ? "'--\(name.rawValue)'"
            : environment[name] != nil
                ? name.variable
                : file?.names.contains(name) == true ? "'\(name.rawValue)' in '\(file?.path ?? "")'" : name.rawValue
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
