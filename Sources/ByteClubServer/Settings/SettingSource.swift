import ByteClubCore
import NIOCore

/// The operator's settings: in the file under this name, as a flag of this name, and in the environment as
/// `BYTECLUB_SERVER_` with the name in capitals.
enum SettingName: String, CaseIterable, Sendable {
    case data
    case clubName = "name"
    case listen
    case publicURL = "public-url"
    case tlsCertificate = "tls-certificate"
    case tlsKey = "tls-key"
    case tlsSelfSigned = "tls-self-signed"
    case insecureHTTP = "insecure-http"
    case trustedProxies = "trusted-proxies"
    case proxyHeader = "proxy-header"
    case metricsListen = "metrics-listen"
    case logLevel = "log-level"
    case logFormat = "log-format"
    case connections
    case idleTimeout = "idle-timeout"
    case headTimeout = "head-timeout"
    case stallTimeout = "stall-timeout"
    case slowestClient = "slowest-client"
    case drainTimeout = "drain-timeout"
    case memberRate = "member-rate"
    case attemptRate = "attempt-rate"
    case anonymousRate = "anonymous-rate"
    case keepHistory = "keep-history"
    case quota
    case memberQuota = "member-quota"
    case historyQuota = "history-quota"
    case entries
    case memberEntries = "member-entries"
    case unfinishedUploads = "unfinished-uploads"
    case housekeepingInterval = "housekeeping-interval"
    case bodyLimit = "body-limit"
    case longpollMinimum = "longpoll-minimum"

    /// The prefix of the environment's variables.
    static let variablePrefix = "BYTECLUB_SERVER_"
    /// The variable that names the settings file.
    static let fileVariable = variablePrefix + "CONFIG"

    private static let byVariable = Dictionary(uniqueKeysWithValues: allCases.map { ($0.variable, $0) })

    /// The setting of an environment variable.
    init?(variable: String) {
        guard let name = Self.byVariable[variable] else { return nil }
        self = name
    }

    /// The environment variable.
    var variable: String { Self.variablePrefix + rawValue.uppercased().split(separator: "-").joined(separator: "_") }
}

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

extension SettingSource {
    /// A whole number within limits; nil when it is not set.
    func number(_ name: SettingName, in range: ClosedRange<Int64>) throws(CommandFailure) -> Int64? {
        guard let text = text(name) else { return nil }
        guard let value = Int64(text), range.contains(value) else {
            throw refusal(name, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)", got: text)
        }
        return value
    }

    /// A whole number within limits, or a default.
    func number(
        _ name: SettingName, in range: ClosedRange<Int64>, default fallback: Int64
    ) throws(CommandFailure) -> Int64 {
        try number(name, in: range) ?? fallback
    }

    /// A number of bytes, such as `10G`; nil when it is not set.
    func bytes(_ name: SettingName) throws(CommandFailure) -> Int64? {
        guard let text = text(name) else { return nil }
        if let value = Int64(text), value >= 0 { return value }
        guard let value = HumanSize.read(text) else {
            throw refusal(name, expected: "a number of bytes, such as 500M or 10G", got: text)
        }
        return value
    }

    /// A number of seconds, fractions allowed.
    func seconds(_ name: SettingName, default fallback: TimeAmount) throws(CommandFailure) -> TimeAmount {
        guard let text = text(name) else { return fallback }
        guard let value = Double(text), value >= 0.1, value <= 86_400 else {
            throw refusal(name, expected: "a number of seconds from 0.1 to 86400", got: text)
        }
        return .milliseconds(Int64(value * 1000))
    }

    /// `true` or `false`.
    func bool(_ name: SettingName) throws(CommandFailure) -> Bool {
        switch text(name) {
        case nil, "false"?: return false
        case "true"?: return true
        case let text?: throw refusal(name, expected: "true or false", got: text)
        }
    }

    /// One of a list of words, or a default.
    func word<Value: RawRepresentable & CaseIterable>(
        _ name: SettingName, default fallback: Value
    ) throws(CommandFailure) -> Value where Value.RawValue == String {
        try word(name) ?? fallback
    }

    /// One of a list of words; nil when it is not set.
    func word<Value: RawRepresentable & CaseIterable>(
        _ name: SettingName
    ) throws(CommandFailure) -> Value? where Value.RawValue == String {
        guard let text = text(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal(name, expected: "one of: \(words)", got: text)
        }
        return value
    }

    /// `HOST:PORT`.
    func address(_ name: SettingName) throws(CommandFailure) -> ListenAddress? {
        guard let text = text(name) else { return nil }
        guard let address = ListenAddress(text) else { throw refusal(name, expected: "HOST:PORT", got: text) }
        return address
    }

    /// Addresses and ranges of them.
    func ranges(_ name: SettingName) throws(CommandFailure) -> [AddressRange] {
        var ranges: [AddressRange] = []
        for part in (text(name) ?? "").split(whereSeparator: { $0 == "," || $0 == " " }) {
            guard let range = AddressRange(part) else {
                throw refusal(name, expected: "addresses such as 127.0.0.1 or 10.0.0.0/8", got: String(part))
            }
            ranges.append(range)
        }
        return ranges
    }
}
