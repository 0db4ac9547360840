/// One line of an ignore file, as in gitignore(5).
struct IgnorePattern: Sendable, Equatable {
    /// The line's number in the file, from 1; 0 for a built-in pattern.
    let line: Int
    /// Whether the line includes what an earlier one ignores.
    private(set) var isNegated = false
    /// Whether the pattern matches folders only.
    private(set) var isFolderOnly = false
    /// Whether the pattern matches files only, which a line of a file cannot express.
    private(set) var isFileOnly = false
    /// Whether the pattern starts at the mirror's root; otherwise it has one glob, for the last name of a path.
    private let isAnchored: Bool
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
        // By any slash but one at the end.
        isAnchored = rest.contains("/")
        if rest.first == "/" { rest.removeFirst() }
        var endsInSlash = rest.isEmpty
        while !rest.isEmpty {
            endsInSlash = rest.last == "/"
            guard let glob = NameGlob(&rest) else { return nil }
            globs.append(glob)
        }
        // No entry has an empty name.
        if endsInSlash { return nil }
    }

    /// A built-in pattern for the names of files in any folder.
    init?(fileName: Substring) {
        self.init(fileName, line: 0)
        isFileOnly = true
    }

    /// Whether it applies to entries of a kind.
    func applies(folder: Bool) -> Bool { folder ? !isFileOnly : !isFolderOnly }

    /// The positions of the names in a path, relative to the root, up to and with which it matches.
    ///
    /// All ways to match are followed at once: each glob is held against each name at most once, however many `**`
    /// there are.
    func matches(in names: [ArraySlice<Unicode.Scalar>]) -> [Int] {
        guard isAnchored else { return names.indices.filter { globs.first?.matches(names[$0]) == true } }
        var found: [Int] = []
        // Whether the names so far match so many of the globs.
        var reached = [true] + Array(repeating: false, count: globs.count)
        for (position, name) in names.enumerated() where reached.contains(true) {
            var next = Array(repeating: false, count: reached.count)
            for (index, glob) in globs.enumerated() where reached[index] {
                let isLast = index == globs.count - 1
                if glob.isDoubleStar {
                    // It matches one more folder, or none; at the end of a pattern, everything in a folder.
                    next[index] = true
                    if isLast { next[index + 1] = true } else { reached[index + 1] = true }
                } else if glob.matches(name) {
                    next[index + 1] = true
                }
            }
            reached = next
            if reached[globs.count] { found.append(position) }
        }
        return found
    }

    /// Removes the spaces at the end, except one after a backslash.
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
