/// A parser's error message, in one line for people.
struct UsageMessage: Hashable, Sendable {
    /// The line, without a full stop.
    let text: String
    /// Whether the line lists all valid values, so that a reference to the help adds nothing.
    let isComplete: Bool

    private static let (start, middle, choice) = ("The value '", "' is invalid for '", ". Please provide one of")

    /// Converts a message of ArgumentParser.
    init(_ message: String) {
        guard message.hasPrefix(Self.start), let middle = message.firstRange(of: Self.middle),
            let end = message[middle.upperBound...].firstIndex(of: "'")
        else {
            let line = Self.line(message).replacing("'. Did you mean '", with: "'; did you mean '").replacing(
                "Missing expected argument '-", with: "missing option '-"
            ).replacing("Missing expected argument", with: "missing argument")
            text = line.prefix(1).lowercased() + line.dropFirst()
            isComplete = text.hasSuffix("?")
            return
        }
        let value = message[..<middle.lowerBound].dropFirst(Self.start.count)
        // An option includes the name of its value, an argument does not.
        let place = message[middle.upperBound..<end].split(separator: " ").first ?? ""
        let rest = message[message.index(after: end)...]
        let isOption = place.hasPrefix("-")
        let refusal =
            isOption
            ? "invalid value '\(value)' for '\(place)'" : "invalid \(place.filter { !"<>".contains($0) }) '\(value)'"
        isComplete = rest.hasPrefix(Self.choice)
        if isComplete {
            let choices = Self.choices(rest.dropFirst(Self.choice.count))
            text = "\(refusal); must be one of: \(choices.joined(separator: ", "))"
        } else {
            text = Self.line(refusal + (rest.hasPrefix(": ") ? "; " + rest.dropFirst(2) : rest))
        }
    }

    /// The values in `'a', 'b' or 'c'.`, or in a list with one per line.
    private static func choices(_ text: Substring) -> [Substring] {
        let lines = text.split(separator: "\n")
        if lines.count > 1 { return lines.dropFirst().map { $0.drop { " -".contains($0) } } }
        let parts = text.split(separator: "'", omittingEmptySubsequences: false)
        return stride(from: 1, to: parts.count, by: 2).map { parts[$0] }
    }

    /// A text on one line, without a full stop.
    private static func line(_ text: String) -> String {
        var line = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }.joined(separator: " ")[...]
        while let last = line.last, last == "." || last.isWhitespace { line.removeLast() }
        return String(line)
    }
}
