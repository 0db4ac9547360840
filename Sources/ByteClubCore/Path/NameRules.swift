/// Which names a shared folder accepts, as Core API v1 had it: strict about what breaks paths, lenient about the rest.
public enum NameRules {
    /// The most characters a name may have.
    public static let maximumCharacters = 255
    /// The most UTF-8 bytes a name may have, the limit of Linux file systems.
    public static let maximumBytes = 255
    /// The most UTF-8 bytes a whole path may have.
    public static let maximumPathBytes = 4096
    /// The most folders that can lie in each other: each takes a slash and a letter of the path.
    public static let maximumDepth = maximumPathBytes / 2

    private static let ignored: Set<String> = [
        "desktop.ini", "thumbs.db", ".ds_store", "icon\r", ".dropbox", ".dropbox.attr",
    ]

    /// Checks one component of a path.
    ///
    /// - Throws: ``PathError`` naming the rule that the name breaks.
    public static func check(_ name: String) throws(PathError) {
        if name.isEmpty { throw PathError("a name cannot be empty") }
        if name == "." || name == ".." { throw PathError("a name cannot be '\(name)'") }
        var previous: Unicode.Scalar = "x"
        for scalar in name.unicodeScalars {
            if scalar == "/" { throw PathError("a name cannot contain '/'") }
            if scalar == "\\" { throw PathError("a name cannot contain a backslash") }
            if scalar.value < 0x20 || scalar.value == 0x7F {
                throw PathError("a name cannot contain the control character \(hex(scalar))")
            }
            previous = scalar
        }
        if previous == " " { throw PathError("a name cannot end with a space") }
        if name.utf8.count > maximumBytes {
            throw PathError("a name cannot be longer than \(maximumBytes) bytes (it has \(name.utf8.count))")
        }
    }

    /// Tells whether desktop clients leave this name alone, so that an upload under it is refused.
    public static func isIgnored(_ name: String) -> Bool {
        let lower = PathKey.fold(name)
        if ignored.contains(lower) { return true }
        return lower.hasPrefix("~$") || lower.hasPrefix(".~") || (lower.hasPrefix("~") && lower.hasSuffix(".tmp"))
    }

    private static func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
