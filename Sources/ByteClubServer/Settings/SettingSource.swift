import ByteClubCore
import NIOCore

/// The operator's settings: in the file and as a flag under the name's words with hyphens, and in the environment as
/// `BYTECLUB_SERVER_` with the words in capitals.
enum SettingName: String, CaseIterable, Sendable {
    case data, name, listen, publicURL, tlsCertificate, tlsKey, tlsSelfSigned, insecureHTTP, trustedProxies, proxyHeader
    case metricsListen, logLevel, logFormat, connections, idleTimeout, headTimeout, stallTimeout, slowestClient
    case drainTimeout, memberRate, attemptRate, anonymousRate, keepHistory, quota, memberQuota, historyQuota, entries
    case memberEntries, unfinishedUploads, housekeepingInterval, bodyLimit, longpollMinimum, mapLink

    /// The prefix of the environment's variables.
    static let variablePrefix = "BYTECLUB_SERVER_"
    /// The variable that names the settings file.
    static let fileVariable = variablePrefix + "CONFIG"

    /// The name as a flag, as ArgumentParser makes it of a property's, and in the file: `public-url`.
    var flag: String {
        var (flag, isWithinWord) = ("", false)
        for letter in rawValue {
            if letter.isUppercase, isWithinWord { flag += "-" }
            flag += letter.lowercased()
            isWithinWord = letter.isLowercase
        }
        return flag
    }

    /// The environment variable.
    var variable: String { Self.variablePrefix + flag.uppercased().split(separator: "-").joined(separator: "_") }
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
            ? "'--\(name.flag)'"
            : environment[name] != nil
                ? name.variable
                : file?.values[name] != nil ? "'\(name.flag)' in '\(file?.path ?? "")'" : name.flag
        let value = text.map { "invalid value '\($0)'" } ?? "invalid value"
        return CommandFailure(
            flags[name] != nil ? .usage : .configuration, "\(value) for \(place); must be \(expected)")
    }

    private static func settings(in environment: [String: String]) throws(CommandFailure) -> [SettingName: String] {
        var settings: [SettingName: String] = [:]
        for (variable, text) in environment.sorted(by: { $0.key < $1.key })
        where variable.hasPrefix(SettingName.variablePrefix) && variable != SettingName.fileVariable {
            guard let name = SettingName.allCases.first(where: { $0.variable == variable }) else {
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
    /// The value of a setting; nil when it is not set.
    ///
    /// - Throws: ``CommandFailure`` with the `expected` values for a text that has none.
    private func value<T>(
        _ name: SettingName, expected: @autoclosure () -> String, _ read: (String) -> T?
    ) throws(CommandFailure) -> T? {
        guard let text = text(name) else { return nil }
        guard let value = read(text) else { throw refusal(name, expected: expected(), got: text) }
        return value
    }

    /// A whole number within limits; nil when it is not set.
    func number(_ name: SettingName, in range: ClosedRange<Int64>) throws(CommandFailure) -> Int64? {
        try value(name, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int64(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A whole number within limits, or a default.
    func number<Value: BinaryInteger>(
        _ name: SettingName, in range: ClosedRange<Int64>, default fallback: Value
    ) throws(CommandFailure) -> Value {
        try number(name, in: range).map { Value($0) } ?? fallback
    }

    /// A number of bytes, such as `10G`; nil when it is not set.
    func bytes(_ name: SettingName) throws(CommandFailure) -> Int64? {
        try value(name, expected: "a number of bytes, such as 500M or 10G") { text in
            if let value = Int64(text), value >= 0 { value } else { HumanSize.read(text) }
        }
    }

    /// A number of seconds, fractions allowed.
    func seconds(_ name: SettingName, default fallback: TimeAmount) throws(CommandFailure) -> TimeAmount {
        let seconds = try value(name, expected: "a number of seconds from 0.1 to 86400") { text in
            Double(text).flatMap { $0 >= 0.1 && $0 <= 86_400 ? $0 : nil }
        }
        return seconds.map { .milliseconds(Int64($0 * 1000)) } ?? fallback
    }

    /// `true` or `false`.
    func bool(_ name: SettingName) throws(CommandFailure) -> Bool {
        try value(name, expected: "true or false") { Bool($0) } ?? false
    }

    /// One of a list of words; nil when it is not set.
    func word<Value: RawRepresentable & CaseIterable>(
        _ name: SettingName
    ) throws(CommandFailure) -> Value? where Value.RawValue == String {
        let words = { Value.allCases.map(\.rawValue).joined(separator: ", ") }
        return try value(name, expected: "one of: \(words())") { Value(rawValue: $0) }
    }

    /// `HOST:PORT`.
    func address(_ name: SettingName) throws(CommandFailure) -> ListenAddress? {
        try value(name, expected: "HOST:PORT") { ListenAddress($0) }
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
