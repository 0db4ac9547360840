import ByteClubCore

/// A pattern of one name, as in a shell: `*`, `?`, `[...]` and `\`; letter case does not count.
struct NameGlob: Sendable, Equatable {
    /// What stands for characters of a name.
    enum Token: Sendable, Equatable {
        /// This character alone, folded.
        case scalar(Unicode.Scalar)
        /// Any one character.
        case one
        /// Any number of characters, none as well.
        case any
        case oneOf(ScalarSet)
    }

    /// What the pattern is made of, in order; two stars never follow each other.
    private(set) var tokens: [Token] = []
    private var literal = ""

    /// Whether the pattern is nothing but two or more stars, each of which stands for folders when it is between
    /// slashes.
    private(set) var isDoubleStar = false

    /// Reads a pattern up to its end or a slash outside of brackets, which is taken too.
    ///
    /// The answer is nil when the pattern can match no name: a backslash at its end, brackets that do not close.
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
        takeLiteral()
        isDoubleStar = stars > 1 && others == 0
    }

    private mutating func append(_ token: Token) {
        takeLiteral()
        tokens.append(token)
    }

    private mutating func takeLiteral() {
        tokens += PathKey.fold(literal).unicodeScalars.map(Token.scalar)
        literal = ""
    }
}
