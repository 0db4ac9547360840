import ByteClubCore
import Glibc

/// A settings file: lines `name: value` in the part of YAML that settings need.
///
/// A value is plain text, text in quotes, or a list of these: in brackets on one line, or one item per line after `- `.
struct SettingsFile: Sendable {
    private static let limit = 1 << 20

    /// The path of the file.
    let path: String
    /// The text of each setting in it, without quotes; the items of a list are joined by commas.
    let values: [SettingName: String]

    /// Reads a file.
    ///
    /// - Throws: ``CommandFailure`` 78 when the file cannot be read, has a line of another form, or has an unknown name.
    init(path: String) throws(CommandFailure) {
        self.path = path
        values = try Self.values(in: try Self.read(path), path)
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
        guard let text = String(validating: bytes.prefix(count), as: UTF8.self) else {
            throw CommandFailure(.configuration, "'\(path)' is not UTF-8 text")
        }
        return text
    }

    private static func values(in text: String, _ path: String) throws(CommandFailure) -> [SettingName: String] {
        var values: [SettingName: String] = [:]
        // The setting of the last line that had a name; items of a list may follow it if it has no value there.
        var last: SettingName?
        var takesItems = false
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let content = line.drop(while: \.isWhitespace)
            guard let first = content.first, first != "#", line != "...", !isDocumentStart(line) else { continue }
            do throws(SettingText.Malformed) {
                if first == "-" {
                    guard let last, takesItems, let items = values[last] else { throw .init("expected 'name: value'") }
                    let item = try SettingText.read(content.dropFirst())
                    values[last] = items.isEmpty ? item : items + "," + item
                } else if let last, content.startIndex > line.startIndex {
                    throw .init("'\(last.flag)' must have one value, or items of a list after '- '")
                } else {
                    let (name, value) = try setting(in: content)
                    guard values[name] == nil else { throw .init("'\(name.flag)' is set twice") }
                    values[name] = value
                    (last, takesItems) = (name, value.isEmpty)
                }
            } catch {
                throw CommandFailure(.configuration, "\(path):\(index + 1): \(error.reason)")
            }
        }
        return values
    }

    private static func isDocumentStart(_ line: Substring) -> Bool {
        guard line.hasPrefix("---") else { return false }
        return line.dropFirst(3).drop(while: \.isWhitespace).first.map { $0 == "#" } ?? true
    }

    private static func setting(
        in line: Substring
    ) throws(SettingText.Malformed) -> (name: SettingName, value: String) {
        guard let colon = line.firstIndex(of: ":") else { throw .init("expected 'name: value'") }
        let text = line[..<colon].filter { $0 != "\"" && $0 != "'" && !$0.isWhitespace }
        guard let name = SettingName.allCases.first(where: { $0.flag == text }) else {
            throw .init("unknown setting '\(text)'; '\(RootCommand.title) serve --help' lists the settings")
        }
        return (name, try SettingText.read(line[line.index(after: colon)...]))
    }
}

/// The value of a setting as YAML spells it: plain text, text in quotes, or a list of these in brackets.
struct SettingText {
    /// An error in a line.
    struct Malformed: Error {
        /// The problem, for people.
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private var rest: Substring.UnicodeScalarView

    /// Reads a value: without its quotes and the comment after it, and with the items of a list joined by commas.
    static func read(_ text: Substring) throws(Malformed) -> String {
        var value = SettingText(rest: text.unicodeScalars)
        value.skipBlanks()
        let read = try value.rest.first == "[" ? value.list() : value.item(endingAt: [])
        value.skipBlanks()
        guard value.rest.isEmpty || value.rest.first == "#" else {
            throw Malformed("not valid YAML: '\(Substring(value.rest))' after the value")
        }
        return read
    }

    private mutating func list() throws(Malformed) -> String {
        var items: [String] = []
        rest.removeFirst()
        skipBlanks()
        while rest.first != "]" {
            items.append(try item(endingAt: [",", "]"]))
            skipBlanks()
            if rest.first == "," {
                rest.removeFirst()
                skipBlanks()
            } else if rest.first != "]" {
                throw Malformed("not valid YAML: a list must end with ']' on the same line")
            }
        }
        rest.removeFirst()
        return items.joined(separator: ",")
    }

    private mutating func item(endingAt ends: Set<Unicode.Scalar>) throws(Malformed) -> String {
        guard let first = rest.first else { return "" }
        if first == "\"" || first == "'" { return try quoted(by: first) }
        // These have a meaning in YAML that settings do not use.
        if "{}[]&*!|>%@`".unicodeScalars.contains(first), !ends.contains(first) {
            throw Malformed("not valid YAML: a value that starts with '\(first)' must be in quotes")
        }
        var text = String.UnicodeScalarView()
        while let next = rest.first, !ends.contains(next) {
            if next == "#", text.last?.properties.isWhitespace != false { break }
            text.append(next)
            rest.removeFirst()
        }
        while text.last?.properties.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    private mutating func quoted(by quote: Unicode.Scalar) throws(Malformed) -> String {
        var text = String.UnicodeScalarView()
        rest.removeFirst()
        while let next = rest.popFirst() {
            if next == quote {
                guard quote == "'", rest.first == "'" else { return String(text) }
                rest.removeFirst()
            }
            text.append(next == "\\" && quote == "\"" ? try escaped() : next)
        }
        throw Malformed("not valid YAML: a value in quotes must end on the same line")
    }

    /// The character after a backslash.
    private mutating func escaped() throws(Malformed) -> Unicode.Scalar {
        let lengths: [Unicode.Scalar: Int] = ["x": 2, "u": 4, "U": 8]
        let kind = rest.popFirst()
        switch kind {
        case "n": return "\n"
        case "t": return "\t"
        case let kind? where ["\"", "\\", "/"].contains(kind): return kind
        case let kind?:
            let digits = rest.prefix(lengths[kind] ?? 0)
            rest = rest.dropFirst(digits.count)
            if digits.count == lengths[kind],
                let scalar = UInt32(String(digits), radix: 16).flatMap(Unicode.Scalar.init)
            {
                return scalar
            }
        case nil: break
        }
        throw Malformed("not valid YAML: '\\' in a value in double quotes must be written '\\\\'")
    }

    private mutating func skipBlanks() {
        while rest.first?.properties.isWhitespace == true { rest.removeFirst() }
    }
}
