import ByteClubCore

/// A name in natural order: case-insensitive, with numbers by value.
///
/// `Report 2` comes before `Report 10`.
struct NaturalOrder {
    private let name: String
    private let folded: String

    init(_ name: String) {
        self.name = name
        folded = PathKey.fold(name)
    }

    /// Whether the first name sorts before the second.
    static func precedes(_ left: String, _ right: String) -> Bool { NaturalOrder(left) < NaturalOrder(right) }

    /// The same for names that are compared repeatedly.
    static func < (left: NaturalOrder, right: NaturalOrder) -> Bool {
        var (a, b) = (Substring(left.folded).utf8, Substring(right.folded).utf8)
        while let x = a.first, let y = b.first {
            if isDigit(x), isDigit(y) {
                let (m, n) = (number(&a), number(&b))
                if m.count != n.count { return m.count < n.count }
                if !m.elementsEqual(n) { return m.lexicographicallyPrecedes(n) }
            } else if x != y {
                return x < y
            } else {
                a.removeFirst()
                b.removeFirst()
            }
        }
        if a.isEmpty != b.isEmpty { return a.isEmpty }
        return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Removes a run of digits, and returns it without leading zeros.
    private static func number(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: isDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}
