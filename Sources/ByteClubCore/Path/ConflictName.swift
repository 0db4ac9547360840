/// The name under which the losing side of a conflict is kept: a pure function of the name and the loser's content.
///
/// Two devices, or a retry after a crash, therefore make one copy and not two.
public enum ConflictName {
    /// `name (conflict 1a2b3c4d).ext`, with the first digits of the content's hash, or `folder` where there is none.
    public static func name(for name: String, loser: ContentHash?, number: Int = 1) -> String {
        let what = loser.map { String($0.description.prefix(8)) } ?? "folder"
        return NumberedName.tagged(name, number == 1 ? "(conflict \(what))" : "(conflict \(what) \(number))")
    }

    /// Whether a name is one that was given to a losing side.
    public static func isCopy(_ name: String) -> Bool { original(of: name) != nil }

    /// The name of which such a name was made, nil when it is none; one that had to be shortened stays short.
    public static func original(of name: String) -> String? {
        guard let tag = name.ranges(of: " (conflict ").last,
            let end = name[tag.upperBound...].firstIndex(of: ")")
        else { return nil }
        return String(name[..<tag.lowerBound] + name[name.index(after: end)...])
    }

    /// The conflict copy's path beside the entry; a number from 2 when that is taken by something else.
    ///
    /// - Throws: ``PathError`` when the path is too long for it.
    public static func path(
        for path: RemotePath, loser: ContentHash?, number: Int = 1
    ) throws(PathError) -> RemotePath {
        try (path.parent ?? .root).appending(name(for: path.name, loser: loser, number: number))
    }
}
