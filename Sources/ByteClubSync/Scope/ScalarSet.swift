/// What brackets in a pattern stand for: characters, ranges of them and named classes, or all others.
struct ScalarSet: Sendable, Equatable {
    private(set) var ranges: [ClosedRange<UInt32>] = []
    private(set) var classes: ScalarClasses = []
    private(set) var isNegated = false

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
                    guard let named = ScalarClasses(name: name) else { return nil }
                    classes.formUnion(named)
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
}
