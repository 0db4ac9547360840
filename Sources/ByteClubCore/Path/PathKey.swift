@_spi(_Unicode) import Swift

/// The identity of a path: paths that differ only in letter case or in Unicode composition have the same key.
///
/// A key is the path in NFC with each scalar mapped to its simple lower case, independent of locale, in NFC again.
/// Core API v1 shows it in `/delta`.
public struct PathKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The key's text: `/` for the root, else `/a/b`.
    public let string: String

    /// The key of the root.
    public static let root = PathKey(folded: "/")

    /// Wraps a text that is a key already, for example one read back from a database.
    public init(folded string: String) {
        self.string = string
    }

    /// The key of the folder that holds this entry, nil for the root.
    public var parent: PathKey? {
        guard string.utf8.count > 1, let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return slash == string.utf8.startIndex ? .root : PathKey(folded: String(string[..<slash]))
    }

    /// Whether this key is strictly below `ancestor`.
    public func isBelow(_ ancestor: PathKey) -> Bool {
        if ancestor == .root { return self != .root }
        return string.utf8.count > ancestor.string.utf8.count + 1
            && string.utf8.starts(with: ancestor.string.utf8)
            && string.utf8[string.utf8.index(string.utf8.startIndex, offsetBy: ancestor.string.utf8.count)]
                == UInt8(ascii: "/")
    }

    /// Orders a folder before its children, and its whole subtree before its next sibling.
    public static func < (left: PathKey, right: PathKey) -> Bool {
        var (left, right) = (left.string, right.string)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                let shorter = min(left.count, right.count)
                var place = 0
                while place < shorter, unsafe left[place] == right[place] { place += 1 }
                if place == shorter { return left.count < right.count }
                if unsafe left[place] == UInt8(ascii: "/") { return true }
                if unsafe right[place] == UInt8(ascii: "/") { return false }
                return unsafe left[place] < right[place]
            }
        }
    }

    /// Compares keys byte by byte; they are normalised already.
    public static func == (left: PathKey, right: PathKey) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    /// Hashes the key's bytes.
    public func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The same text as ``string``.
    public var description: String { string }

    /// Maps a text to NFC, each scalar to its simple lower case, and that to NFC.
    ///
    /// The second time is for letters that are composed in lower case alone, such as h with a line below.
    public static func fold(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            guard text.utf8.contains(where: { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }) else { return text }
            return text.lowercased()
        }
        var scalars = String.UnicodeScalarView()
        for scalar in text._nfc {
            // U+0130 alone maps to two scalars; the first is its simple mapping.
            scalars.append(scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar)
        }
        return composed(String(scalars))
    }

    /// The text in NFC, the composition in which names are stored.
    static func composed(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var scalars = String.UnicodeScalarView()
        for scalar in text._nfc { scalars.append(scalar) }
        return String(scalars)
    }
}
