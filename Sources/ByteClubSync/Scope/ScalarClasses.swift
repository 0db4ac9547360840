/// The classes of characters that brackets in a pattern can name, as in `[[:digit:]]`.
struct ScalarClasses: OptionSet, Sendable {
    let rawValue: UInt16

    /// How many there are; the first is bit 0.
    static let count = 12

    private static let names = [
        "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit",
    ]

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Whether it has the class of a number.
    func has(_ number: Int) -> Bool { rawValue >> number & 1 == 1 }

    /// The class of a name; nil when there is none.
    init?(name: String) {
        guard let index = Self.names.firstIndex(of: name) else { return nil }
        self.init(rawValue: 1 << index)
    }

    /// All classes of a character.
    init(of scalar: Unicode.Scalar) {
        let properties = scalar.properties
        let isDigit = (0x30...0x39).contains(scalar.value)
        let isControl = properties.generalCategory == .control
        let isVisible = !isControl && !properties.isWhitespace
        let holds = [
            properties.isAlphabetic || isDigit, properties.isAlphabetic, scalar == " " || scalar == "\t", isControl,
            isDigit, isVisible, properties.isLowercase, !isControl, isVisible && !properties.isAlphabetic && !isDigit,
            properties.isWhitespace, properties.isUppercase, properties.isASCIIHexDigit,
        ]
        var bits: UInt16 = 0
        for (index, isHeld) in holds.enumerated() where isHeld { bits |= 1 << index }
        self.init(rawValue: bits)
    }
}
