/// One line of an ignore file, as in gitignore(5).
struct IgnorePattern: Sendable, Equatable {
    /// The line's number in the file, from 1; 0 for a pattern that no file has.
    let line: Int
    /// Whether the line includes again what an earlier one ignores.
    private(set) var isNegated = false
    /// Whether the pattern is about folders alone.
    private(set) var isFolderOnly = false
    /// Whether the pattern is about files alone, which no line of a file can say.
    private(set) var isFileOnly = false
    /// What matches the paths, relative to the root, of the entries that it is about.
    let automaton: PathAutomaton

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
        // A slash that is not the last character: then the pattern is matched from the root.
        let isAnchored = rest.contains("/")
        var globs: [NameGlob] = []
        if rest.first == "/" { rest.removeFirst() }
        var endsInSlash = rest.isEmpty
        while !rest.isEmpty {
            endsInSlash = rest.last == "/"
            guard let glob = NameGlob(&rest) else { return nil }
            globs.append(glob)
        }
        // An empty name between slashes is none that an entry could have.
        if endsInSlash { return nil }
        automaton = PathAutomaton(globs, isAnchored: isAnchored)
    }

    /// A pattern of the names of files in any folder that is in force without an ignore file.
    init?(fileName: Substring) {
        self.init(fileName, line: 0)
        isFileOnly = true
    }

    /// Whether it is about entries of a kind.
    func isAbout(folder: Bool) -> Bool { folder ? !isFileOnly : !isFolderOnly }

    /// Spaces at the end do not count, but for those behind a backslash.
    private static func withoutTrailingSpaces(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
        var end = text.startIndex
        var index = text.startIndex
        while index < text.endIndex {
            let scalar = text[index]
            text.formIndex(after: &index)
            if scalar == "\\", index < text.endIndex { text.formIndex(after: &index) }
            if scalar != " " { end = index }
        }
        return text[..<end]
    }
}
