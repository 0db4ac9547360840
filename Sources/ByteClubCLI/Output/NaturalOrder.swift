import ByteClubCore

/// The order in which people look for names: letter case does not count, and numbers count as numbers.
enum NaturalOrder {
    /// Whether the first name comes before the second, so that `Report 2` comes before `Report 10`.
    static func precedes(_ left: String, _ right: String) -> Bool {
        var (a, b) = (Substring(PathKey.fold(left)).utf8, Substring(PathKey.fold(right)).utf8)
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
        return left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Takes a run of digits, and gives those that count.
    private static func number(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: isDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}
