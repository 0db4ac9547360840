/// What brackets in a pattern stand for: characters, ranges of them and named classes, or all others.
struct ScalarSet: Sendable, Equatable {
    private var ranges: [ClosedRange<UInt32>] = []
    private var classes: [String] = []
    private var isNegated = false

    private static let names: Set<String> = [
        "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit",
    ]

    /// Reads what follows an opening bracket, with the closing one; nil when there is none, or for an unknown class.
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
                switch Self.name(in: text) {
                case .unclosed: return nil
                case .none: add(scalar, &previous)
                case .some(let name, let rest):
                    guard Self.names.contains(name) else { return nil }
                    classes.append(name)
                    (previous, text) = (nil, rest)
                }
            } else if scalar == "-", let low = previous, let high = text.first, high != "]" {
                text.removeFirst()
                guard let high = high == "\\" ? text.popFirst() : high else { return nil }
                if low <= high { ranges.append(low.value...high.value) }
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

    private enum Name {
        case unclosed
        case none
        case some(String, Substring.UnicodeScalarView)
    }

    /// The name in `:name:]`, and what follows it.
    private static func name(in text: Substring.UnicodeScalarView) -> Name {
        guard let end = text.firstIndex(of: "]") else { return .unclosed }
        let inside = text[..<end].dropFirst()
        guard inside.last == ":" else { return .none }
        return .some(String(Substring(inside.dropLast())), text[text.index(after: end)...])
    }

    private mutating func add(_ scalar: Unicode.Scalar, _ previous: inout Unicode.Scalar?) {
        ranges.append(scalar.value...scalar.value)
        previous = scalar
    }

    /// Tells whether a folded character, in its lower or its upper case, is one of those.
    func contains(_ scalar: Unicode.Scalar) -> Bool {
        var cases = [scalar]
        let upper = scalar.properties.uppercaseMapping.unicodeScalars
        if upper.count == 1, let only = upper.first, only != scalar { cases.append(only) }
        let isHeld = cases.contains { scalar in
            ranges.contains { $0.contains(scalar.value) } || classes.contains { Self.holds($0, scalar) }
        }
        return isHeld != isNegated
    }

    private static func holds(_ name: String, _ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        let isDigit = (0x30...0x39).contains(scalar.value)
        let isControl = properties.generalCategory == .control
        return switch name {
        case "alnum": properties.isAlphabetic || isDigit
        case "alpha": properties.isAlphabetic
        case "blank": scalar == " " || scalar == "\t"
        case "cntrl": isControl
        case "digit": isDigit
        case "graph": !isControl && !properties.isWhitespace
        case "lower": properties.isLowercase
        case "print": !isControl
        case "punct": !isControl && !properties.isWhitespace && !properties.isAlphabetic && !isDigit
        case "space": properties.isWhitespace
        case "upper": properties.isUppercase
        case "xdigit": properties.isASCIIHexDigit
        default: false
        }
    }
}
