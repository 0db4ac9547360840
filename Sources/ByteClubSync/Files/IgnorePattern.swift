/// One line of an ignore file, as gitignore(5) tells it.
struct IgnorePattern: Sendable, Equatable {
    /// The line's number in the file, from 1.
    let line: Int
    /// Whether the line lets in again what an earlier one ignores.
    private(set) var isNegated = false
    private var isFolderOnly = false
    /// Whether the pattern holds a slash that is not its last character, and so is matched from the root.
    private var isAnchored = false
    private var globs: [NameGlob] = []

    /// Reads a line without its end; nil for a comment, an empty line and a pattern that matches nothing.
    init?(_ text: Substring, line: Int) {
        self.line = line
        if text.first == "#" { return nil }
        var rest = Self.withoutTrailingSpaces(text.unicodeScalars)
        if rest.first == "!" {
            isNegated = true
            rest.removeFirst()
        }
        if rest.last == "/" {
            isFolderOnly = true
            rest.removeLast()
        }
        isAnchored = rest.contains("/")
        if rest.first == "/" { rest.removeFirst() }
        var endsInSlash = rest.isEmpty
        while !rest.isEmpty {
            endsInSlash = rest.last == "/"
            guard let glob = NameGlob(&rest) else { return nil }
            globs.append(glob)
        }
        // An empty name between slashes is none that an entry could have.
        if endsInSlash { return nil }
    }

    /// Spaces at the end do not count, but for those behind a backslash.
    private static func withoutTrailingSpaces(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
        var end = text.startIndex
        var place = text.startIndex
        while place < text.endIndex {
            let scalar = text[place]
            text.formIndex(after: &place)
            if scalar == "\\", place < text.endIndex { text.formIndex(after: &place) }
            if scalar != " " { end = place }
        }
        return text[..<end]
    }

    /// Tells whether the pattern is about an entry itself, whose path from the root has these folded names.
    func matches(_ names: ArraySlice<ArraySlice<Unicode.Scalar>>, isFolder: Bool) -> Bool {
        if isFolderOnly, !isFolder { return false }
        guard isAnchored else { return names.last.map { globs.first?.matches($0) ?? false } ?? false }
        var (glob, place) = (0, names.startIndex)
        // The last double star, and the name from which what follows it was tried last.
        var retry: (glob: Int, place: Int)?
        while place < names.endIndex {
            if glob < globs.count, globs[glob].isDoubleStar {
                // At the end it stands for all that is inside; else for folders, and for none too.
                if glob == globs.count - 1 { return true }
                glob += 1
                retry = (glob, place)
            } else if glob < globs.count, globs[glob].matches(names[place]) {
                (glob, place) = (glob + 1, place + 1)
            } else if let last = retry {
                retry = (last.glob, last.place + 1)
                (glob, place) = (last.glob, last.place + 1)
            } else {
                return false
            }
        }
        return glob == globs.count
    }
}
