import ByteClubCore

/// A pattern of one name, as in a shell: `*`, `?`, `[...]` and `\`; letter case does not count.
struct NameGlob: Sendable, Equatable {
    private enum Token: Sendable, Equatable {
        case scalar(Unicode.Scalar)
        case one
        case any
        case oneOf(ScalarSet)
    }

    private var tokens: [Token] = []
    private var literal = ""

    /// Whether the pattern is nothing but two or more stars, each of which stands for folders when it is between slashes.
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

    /// Tells whether a folded name matches, in time that the lengths' product bounds.
    func matches(_ name: ArraySlice<Unicode.Scalar>) -> Bool {
        var (token, place) = (0, name.startIndex)
        // The last star, and where what follows it was tried last.
        var retry: (token: Int, place: Int)?
        while place < name.endIndex {
            if token < tokens.count, tokens[token] == .any {
                token += 1
                retry = (token, place)
            } else if token < tokens.count, Self.matches(tokens[token], name[place]) {
                (token, place) = (token + 1, place + 1)
            } else if let last = retry {
                retry = (last.token, last.place + 1)
                (token, place) = (last.token, last.place + 1)
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
