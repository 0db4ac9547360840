/// The names under which a shared folder stores what it cannot store under the name asked for.
///
/// The extension is the text from the last dot of a name, unless that dot comes first.
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
