import ByteClubCore

/// Temporary names that break cycles: of entries that exchange their names, one is parked under such a name first.
///
/// Such a name is a function of the item, so that it is recognised as one that no user chose.
enum TemporaryName {
    /// `name (moving 12).ext`; with a number from 2 when that is taken.
    static func name(for name: String, of item: ItemID, number: Int = 1) -> String {
        NumberedName.tagged(name, number == 1 ? "(moving \(item.number))" : "(moving \(item.number) \(number))")
    }

    /// Whether this is a temporary name of an item.
    static func isName(_ name: EntryName, of item: ItemID) -> Bool {
        guard name.text.utf8.last == UInt8(ascii: ")") || name.text.utf8.contains(UInt8(ascii: "(")) else {
            return false
        }
        let stem = NumberedName.split(name.text).stem
        let tag = " (moving \(item.number)"
        if stem.hasSuffix(tag + ")") { return true }
        guard stem.hasSuffix(")"), let space = stem.lastIndex(of: " ") else { return false }
        return stem[..<space].hasSuffix(tag)
            && stem[space...].dropFirst().dropLast().utf8.allSatisfy { (48...57).contains($0) }
    }
}
