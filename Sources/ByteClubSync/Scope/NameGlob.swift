import ByteClubCore

/// A pattern of one name, as in a shell: `*`, `?`, `[...]` and `\`; letter case does not matter.
struct NameGlob: Sendable, Equatable {
    private enum Token: Sendable, Equatable {
        /// This folded character.
        case scalar(Unicode.Scalar)
        /// Any one character.
        case one
        /// Any number of characters, including none.
        case any
        case oneOf(ScalarSet)
    }

    /// Two stars never follow each other.
    private var tokens: [Token] = []
    /// How many characters a name has at least that matches.
    private var shortest = 0
    private var literal = ""

    /// Whether the pattern consists of two or more stars only: between slashes these match any number of folders.
    private(set) var isDoubleStar = false

    /// Reads a pattern up to and with a slash outside of brackets, or to its end.
    ///
    /// It is nil when the pattern can match no name: for a backslash at its end, and for unclosed brackets.
    init?(_ text: inout Substring.UnicodeScalarView) {
        var (stars, others) = (0, 0)
        reading: while let scalar = text.popFirst() {
            others += 1
            switch scalar {
            case "/":
                others -= 1
                break reading
            case "*":
                (stars, others) = (stars + 1, others - 1)
                if tokens.last != .any || !literal.isEmpty { append(.any) }
            case "?":
                append(.one)
            case "[":
                guard let set = ScalarSet(&text) else { return nil }
                append(.oneOf(set))
            case "\\":
                guard let escaped = text.popFirst() else { return nil }
                if escaped == "/" { break reading }
                literal.unicodeScalars.append(escaped)
            default:
                literal.unicodeScalars.append(scalar)
            }
        }
        appendLiteral()
        isDoubleStar = stars > 1 && others == 0
        shortest = tokens.count { $0 != .any }
    }

    private mutating func append(_ token: Token) {
        appendLiteral()
        tokens.append(token)
    }

    private mutating func appendLiteral() {
        tokens += PathKey.fold(literal).unicodeScalars.map(Token.scalar)
        literal = ""
    }

    /// Whether it matches a folded name.
    ///
    /// After a mismatch only the last star takes one more character: an earlier one would reach the same positions
    /// later. So there are at most as many steps as the product of both lengths, however many stars there are.
    func matches(_ name: ArraySlice<Unicode.Scalar>) -> Bool {
        if name.count < shortest { return false }
        var (index, token) = (name.startIndex, 0)
        var star: (token: Int, index: Int)?
        while index < name.endIndex {
            if token < tokens.count, tokens[token] == .any {
                token += 1
                star = (token, index)
            } else if token < tokens.count, Self.matches(tokens[token], name[index]) {
                (token, index) = (token + 1, index + 1)
            } else if let last = star {
                (token, index) = (last.token, last.index + 1)
                star = (token, index)
            } else {
                return false
            }
        }
        return tokens[token...].allSatisfy { $0 == .any }
    }

    private static func matches(_ token: Token, _ scalar: Unicode.Scalar) -> Bool {
        switch token {
        case .scalar(let wanted): scalar == wanted
        case .one, .any: true
        case .oneOf(let set): set.contains(scalar)
        }
    }
}
