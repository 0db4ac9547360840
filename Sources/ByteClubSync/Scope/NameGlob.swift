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
    /// How many tokens follow the last star; nil without a star.
    private var tail: Int?
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
        tail = tokens.lastIndex(of: .any).map { tokens.count - 1 - $0 }
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
    /// After a mismatch only the last star is extended by one character: an earlier one would reach the same positions
    /// later. So there are at most as many steps as the product of both lengths, however many stars there are.
    func matches(_ name: ArraySlice<Unicode.Scalar>) -> Bool {
        if name.count < shortest { return false }
        // The tokens after the last star can only match the end of the name, where most names fail at once.
        let tail = tail ?? 0
        let end = (token: tokens.count - tail, index: name.endIndex - tail)
        for offset in 0..<tail where !Self.matches(tokens[end.token + offset], name[end.index + offset]) {
            return false
        }
        var (index, token) = (name.startIndex, 0)
        var star: (token: Int, index: Int)?
        while index < end.index {
            if token < end.token, tokens[token] == .any {
                token += 1
                // Nothing but the tail is left.
                if token == end.token { return true }
                star = (token, index)
            } else if token < end.token, Self.matches(tokens[token], name[index]) {
                (token, index) = (token + 1, index + 1)
            } else if let last = star {
                (token, index) = (last.token, last.index + 1)
                star = (token, index)
            } else {
                return false
            }
        }
        return tokens[token..<end.token].allSatisfy { $0 == .any }
    }

    private static func matches(_ token: Token, _ scalar: Unicode.Scalar) -> Bool {
        switch token {
        case .scalar(let wanted): scalar == wanted
        case .one, .any: true
        case .oneOf(let set): set.contains(scalar)
        }
    }
}

/// A bracket expression of a pattern, such as `[a-z]`, `[!0-9]` or `[[:digit:]x]`.
struct ScalarSet: Sendable, Equatable {
    private var ranges: [ClosedRange<Unicode.Scalar>] = []
    private var classes: [ScalarClass] = []
    private var isNegated = false

    /// Reads what follows an opening bracket, up to and with the closing one; nil without that, or for an unknown class.
    init?(_ text: inout Substring.UnicodeScalarView) {
        if let first = text.first, first == "!" || first == "^" {
            isNegated = true
            text.removeFirst()
        }
        var previous: Unicode.Scalar?
        var isFirst = true
        while let scalar = text.popFirst() {
            if scalar == "]", !isFirst { return }
            isFirst = false
            if scalar == "[", text.first == ":" {
                // `[:name:]`; without the second colon the bracket is a character like any other.
                guard let end = text.firstIndex(of: "]") else { return nil }
                let inside = text[..<end].dropFirst()
                if inside.last == ":" {
                    guard let named = ScalarClass(rawValue: String(inside.dropLast())) else { return nil }
                    classes.append(named)
                    (previous, text) = (nil, text[text.index(after: end)...])
                } else {
                    add(scalar, &previous)
                }
            } else if scalar == "-", let low = previous, let high = text.first, high != "]" {
                text.removeFirst()
                guard let high = high == "\\" ? text.popFirst() : high else { return nil }
                if low <= high { ranges.append(low...high) }
                previous = nil
            } else if scalar == "\\" {
                guard let escaped = text.popFirst() else { return nil }
                add(escaped, &previous)
            } else {
                add(scalar, &previous)
            }
        }
        return nil
    }

    private mutating func add(_ scalar: Unicode.Scalar, _ previous: inout Unicode.Scalar?) {
        ranges.append(scalar...scalar)
        previous = scalar
    }

    /// Whether it matches a folded character, in lower or in upper case.
    func contains(_ scalar: Unicode.Scalar) -> Bool {
        (lists(scalar) || lists(Self.upper(scalar))) != isNegated
    }

    private func lists(_ scalar: Unicode.Scalar) -> Bool {
        ranges.contains { $0.contains(scalar) } || classes.contains { $0.contains(scalar) }
    }

    /// The upper case of a character where that is one character, else the character itself.
    private static func upper(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.isASCII {
            return ("a"..."z").contains(scalar) ? Unicode.Scalar(UInt8(truncatingIfNeeded: scalar.value) - 32) : scalar
        }
        let mapping = scalar.properties.uppercaseMapping.unicodeScalars
        return mapping.count == 1 ? mapping.first ?? scalar : scalar
    }
}

/// A class of characters that a bracket expression can name, as in `[[:digit:]]`.
enum ScalarClass: String, Sendable {
    case alnum, alpha, blank, cntrl, digit, graph, lower, print, punct, space, upper, xdigit

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        return switch self {
        case .alnum: properties.isAlphabetic || Self.digit.contains(scalar)
        case .alpha: properties.isAlphabetic
        case .blank: scalar == " " || scalar == "\t"
        case .cntrl: properties.generalCategory == .control
        case .digit: ("0"..."9").contains(scalar)
        case .graph: properties.generalCategory != .control && !properties.isWhitespace
        case .lower: properties.isLowercase
        case .print: properties.generalCategory != .control
        case .punct: Self.graph.contains(scalar) && !Self.alnum.contains(scalar)
        case .space: properties.isWhitespace
        case .upper: properties.isUppercase
        case .xdigit: properties.isASCIIHexDigit
        }
    }
}
