/// A search while the user types: takes keys and answers, returns questions and rows; pure.
///
/// It asks from the second letter on. Of several questions only the newest counts.
package struct Typeahead: Sendable {
    package enum Event: Sendable {
        case key(Key)
        /// The answer to a question, as lines.
        case found(Int, [String])
        case failed(Int, String)
    }

    package enum Command: Equatable, Sendable {
        /// Ask a question with a number, and cancel the one before.
        case ask(Int, String)
        /// Cancel the question.
        case cancel
        /// The user has chosen a line of the newest answer.
        case choose(Int)
        case leave(isInterrupted: Bool)
    }

    package private(set) var words = ""
    package private(set) var selected = 0
    /// The number of the newest question.
    package private(set) var question = 0
    private var lines: [String] = []
    private var asked = ""
    private var isAsking = false
    private var problem: String?

    private static let leastLetters = 2
    private static let mostLetters = 100

    /// What Return does with the chosen line, such as `downloads`.
    private let action: String

    package init(action: String) { self.action = action }

    /// Handles an event, and returns the commands that follow from it.
    package mutating func handle(_ event: Event) -> [Command] {
        switch event {
        case .key(let key): return press(key)
        case .found(let number, let found):
            guard number == question, isAsking else { return [] }
            (lines, selected, isAsking, problem) = (found, 0, false, nil)
        case .failed(let number, let reason):
            guard number == question, isAsking else { return [] }
            // The same words ask again.
            (lines, selected, isAsking, problem, asked) = ([], 0, false, reason, "")
        }
        return []
    }

    private mutating func press(_ key: Key) -> [Command] {
        switch key {
        case .text(let character):
            guard words.count < Self.mostLetters else { return [] }
            words.append(character)
            return ask()
        case .backspace:
            _ = words.popLast()
            return ask()
        case .up: selected = max(selected - 1, 0)
        case .down: selected = min(selected + 1, max(lines.count - 1, 0))
        case .enter:
            // Until the newest answer arrives, the lines belong to other words.
            if !isAsking, lines.indices.contains(selected) { return [.choose(selected)] }
            if !isAsking, problem != nil { return ask() }
        case .interrupt: return [.leave(isInterrupted: true)]
        case .end: return [.leave(isInterrupted: false)]
        case .redraw: break
        }
        return []
    }

    private mutating func ask() -> [Command] {
        let words = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard words != asked else { return [] }
        let wasAsking = isAsking
        (asked, problem) = (words, nil)
        guard words.count >= Self.leastLetters else {
            (lines, selected, isAsking) = ([], 0, false)
            return wasAsking ? [.cancel] : []
        }
        question += 1
        isAsking = true
        return [.ask(question, words)]
    }

    /// The screen: the words, the lines that were found, as far as they fit around the selected one, and a hint.
    ///
    /// - Parameters:
    ///   - columns: The terminal's width; no row is wider.
    ///   - height: The terminal's height; there are fewer rows, but at least two.
    /// - Returns: The rows from the top.
    package func rows(columns: Int, lines height: Int) -> [String] {
        let room = min(max(height - 3, 0), lines.count)
        let first = min(max(selected - room / 2, 0), lines.count - room)
        let found = (first..<(first + room)).map { ($0 == selected ? "> " : "  ") + lines[$0] }
        let hint =
            if isAsking { "searching" } else if let problem {
                "\(problem); Return tries again"
            } else if asked.count
                < Self.leastLetters
            { "type at least two letters" } else if lines.isEmpty { "nothing found" } else {
                "arrows select, Return \(action), Ctrl-C ends"
            }
        return (["Search: \(words)_"] + found + [hint]).map { String($0.prefix(max(columns, 1))) }
    }
}
