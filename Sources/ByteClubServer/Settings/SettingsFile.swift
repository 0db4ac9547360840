import ByteClubCore
import Configuration
import Glibc

/// A settings file: YAML with one `name: value` for each setting.
struct SettingsFile: Sendable {
    private static let limit = 1 << 20

    /// Where it is.
    let path: String
    /// The names in it.
    let names: Set<SettingName>
    /// Its values; nil when it has none.
    let provider: (any ConfigProvider)?

    /// Reads a file.
    ///
    /// - Throws: ``CommandFailure`` 78 when it cannot be read, is no YAML, or names a setting that there is not.
    init(path: String) async throws(CommandFailure) {
        self.path = path
        names = try Self.names(in: try Self.read(path), path)
        if names.isEmpty {
            provider = nil
            return
        }
        do {
            let place = ConfigReader(
                provider: InMemoryProvider(values: ["filePath": ConfigValue(.string(path), isSecret: false)]))
            provider = try await FileProvider<YAMLSnapshot>(config: place)
        } catch {
            throw CommandFailure(.configuration, "'\(path)' is not valid YAML: \(ServerFault.line(for: error))")
        }
    }

    private static func read(_ path: String) throws(CommandFailure) -> String {
        guard let file = unsafe fopen(path, "re") else {
            throw CommandFailure(.configuration, "cannot read '\(path)': \(unsafe String(cString: strerror(errno)))")
        }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        guard unsafe ferror(file) == 0 else {
            throw CommandFailure(.configuration, "cannot read '\(path)': \(unsafe String(cString: strerror(errno)))")
        }
        guard count < limit else {
            throw CommandFailure(.configuration, "'\(path)' is larger than \(HumanSize.shown(Int64(limit)))")
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// The names at the beginnings of lines: in a YAML mapping of this form nothing else stands there.
    private static func names(in text: String, _ path: String) throws(CommandFailure) -> Set<SettingName> {
        var names: Set<SettingName> = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard let first = line.first, !first.isWhitespace, first != "#", first != "-", line != "..." else {
                continue
            }
            let place = "\(path):\(index + 1)"
            guard let colon = line.firstIndex(of: ":") else {
                throw CommandFailure(.configuration, "\(place): expected 'name: value'")
            }
            let text = line[..<colon].filter { $0 != "\"" && $0 != "'" }.trimmingSuffix { $0.isWhitespace }
            guard let name = SettingName(rawValue: String(text)) else {
                throw CommandFailure(
                    .configuration,
                    "\(place): unknown setting '\(text)'; '\(RootCommand.title) serve --help' lists the settings")
            }
            guard names.insert(name).inserted else {
                throw CommandFailure(.configuration, "\(place): '\(text)' is set twice")
            }
        }
        return names
    }
}

extension String {
    fileprivate func trimmingSuffix(while isUnwanted: (Character) -> Bool) -> Substring {
        self[..<(lastIndex { !isUnwanted($0) }.map(index(after:)) ?? startIndex)]
    }
}
