import ByteClubCore

/// A command line that makes no sense, as a shell would read it, and what may not stand in the line that says so.
public struct WrongUse: Hashable, Sendable {
    /// What is set for this command alone, by the words before it.
    public private(set) var environment: [String: String] = [:]
    /// The command's words.
    public private(set) var words: [String] = []
    /// The file that is its standard input; nil for none.
    public private(set) var input: String?

    /// Reads a line such as `TZ=UTC notes add 'a b.md' < HOME/a.txt`.
    ///
    /// Words are separated by blanks, which count for nothing between `'` and `'`; `\x1b` is that byte.
    public init(_ line: String, home: String) {
        var words = Self.split(line).map { word -> String in
            // The name of a variable may have it, too.
            let text = Self.unescaped(word)
            let value = text.firstIndex(of: "=").map(text.index(after:)) ?? text.startIndex
            return String(text[..<value]) + text[value...].replacing("HOME", with: home)
        }
        while let first = words.first, let equals = first.firstIndex(of: "="), first.prefix(1) != "-",
            first[..<equals].allSatisfy({ $0.isUppercase || $0 == "_" })
        {
            environment[String(first[..<equals])] = String(first[first.index(after: equals)...])
            words.removeFirst()
        }
        if let mark = words.firstIndex(of: "<"), mark + 1 < words.count {
            input = words[mark + 1]
            words.removeSubrange(mark...(mark + 1))
        }
        self.words = words
    }

    private static func split(_ line: String) -> [String] {
        var (words, word, isQuoted) = ([String](), String?.none, false)
        for character in line {
            if character == "'" {
                isQuoted.toggle()
                word = word ?? ""
            } else if character == " ", !isQuoted {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return word.map { words + [$0] } ?? words
    }

    private static func unescaped(_ word: String) -> String {
        word.replacing(#/\\x([0-9a-f]{2})/#) { match in
            UInt8(match.output.1, radix: 16).map { String(UnicodeScalar($0)) } ?? ""
        }
    }

    /// What is wrong with what a person is told, which should be one line for people.
    public static func objections(to told: [String], of program: String = "byteclub") -> [String] {
        var objections = told.count == 1 ? [] : ["\(told.count) lines"]
        for text in told {
            if !text.hasPrefix(program + ": ") { objections.append("who says it") }
            if text.hasSuffix(".") { objections.append("a full stop") }
            let parts = [
                "GET ", "PUT ", "POST ", "HTTP/", "/1/", "answered", "Please", "  ", "RemoteError", "Optional(",
            ]
            objections += parts.filter(text.contains).map { "'\($0)'" }
            // An empty value is quoted, too; what is printed as a command has no quotes within its quotes.
            let filled = text.replacing(#/(^| )''(?=$|[ ;,:])/#, with: " ")
            if filled.contains("''") { objections.append("quotes in quotes") }
            let words = text.split { !$0.isLetter && !$0.isNumber }
            let statuses = ["401", "403", "404", "409", "413", "500", "502", "503", "507"]
            objections += statuses.filter { words.contains($0[...]) }
            for wrapped in LineWrap.wrapped(text, to: 80).split(separator: "\n")
            where DisplayWidth.of("\(wrapped)") > 80 {
                objections.append("it cannot be wrapped to 80 columns")
            }
            // What is quoted is closed.
            if text.replacing("'s ", with: "s ").count(where: { $0 == "'" }) % 2 != 0 { objections.append("quotes") }
        }
        return objections
    }
}
