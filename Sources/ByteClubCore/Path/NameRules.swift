/// Which names a shared folder accepts, as Core API v1 had it: strict about what breaks paths, lenient about the rest.
public enum NameRules {
    /// The most UTF-8 bytes a name may have, the limit of Linux file systems.
    public static let maximumBytes = 255
    /// The most UTF-8 bytes a whole path may have.
    public static let maximumPathBytes = 4096
    /// The greatest depth of folders: each level needs a slash and a letter of the path.
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

    /// Whether desktop clients ignore this name, so that an upload under it is refused.
    public static func isIgnored(_ name: String) -> Bool {
        let lower = PathKey.fold(name)
        if ignored.contains(lower) { return true }
        return lower.hasPrefix("~$") || lower.hasPrefix(".~") || (lower.hasPrefix("~") && lower.hasSuffix(".tmp"))
    }

    private static func hex(_ scalar: Unicode.Scalar) -> String {
        "U+" + String(scalar.value, radix: 16, uppercase: true).padded(to: 4)
    }
}

/// The names under which a shared folder stores what it cannot store under the name asked for.
///
/// The extension is the text from the last dot of a name, unless that dot is its first character.
public enum NumberedName {
    /// Splits a name into stem and extension; the extension holds its dot and may be empty.
    public static func split(_ name: String) -> (stem: String, extension: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }

    /// `name (1).ext`, `name (2).ext`, …: what `overwrite=false` stores under.
    public static func numbered(_ name: String, _ number: Int) -> String {
        tagged(name, "(\(number))")
    }

    /// `name (conflicted copy).ext`, `name (conflicted copy 1).ext`, …: what a stale `parent_rev` stores under.
    public static func conflicted(_ name: String, _ number: Int) -> String {
        tagged(name, number == 0 ? "(conflicted copy)" : "(conflicted copy \(number))")
    }

    /// A name with a tag before its extension, its stem shortened as far as the limit of a name asks for.
    public static func tagged(_ name: String, _ tag: String) -> String {
        var parts = split(name)
        // An extension that leaves no room for the tag is none.
        if parts.extension.utf8.count + tag.utf8.count + 1 >= NameRules.maximumBytes { parts = (name, "") }
        var stem = Substring(parts.stem)
        let tail = " " + tag + parts.extension
        while !stem.isEmpty, stem.utf8.count + tail.utf8.count > NameRules.maximumBytes { stem.removeLast() }
        return stem + tail
    }
}
