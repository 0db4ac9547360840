import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubSync

@Suite struct GitIgnoreTests {
    private static let pieces = [
        "a", "a", "b", "ab", "c", "*", "*", "?", "[ab]", "[!a]", "[^b]", "[a-b]", "[[:alpha:]]", "[[:punct:]]", "[]a]",
        "[b-a]", "[a", "[\\]]", "[a-]", " ", "\\ ", "\\#", "\\!", "#", "!", ".md", "\\*", "\\a", "\\", "/", "/", "/",
        "-",
        "[[:nil:]]", "[[:a]", "\t", "\r",
    ]

    /// A line of an ignore file, sometimes one that means nothing.
    ///
    /// Stars that touch are a segment of their own here: git takes the two in `a**/b` for such, against its manual.
    private static func line(using generator: inout SeededGenerator) -> String {
        var line = ["", "", "", "!", "/", "**/", "!/", "#"].randomElement(using: &generator) ?? ""
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let piece = pieces.randomElement(using: &generator) ?? ""
            line += line.hasSuffix("*") && piece == "*" ? "/" : piece
            if Int.random(in: 0..<8, using: &generator) == 0 { line += "/**/" }
        }
        return line + (["", "", "", "/", "/**", " ", "/*"].randomElement(using: &generator) ?? "")
    }

    /// Folders of three levels, each with the same files, and whether each path is a folder.
    private static func tree() -> [(path: String, isFolder: Bool)] {
        var paths: [(String, Bool)] = []
        var folders = [""]
        for level in 0..<3 {
            for folder in folders {
                paths += ["c", "x.md", "ab.md", "#a", "!a", "a-b", "]", "ba", "a ", "*", "\\"].map {
                    (folder + $0, false)
                }
            }
            if level == 2 { break }
            let below = folders.flatMap { folder in ["a", "b", "ab", "a b", "[a]"].map { folder + $0 } }
            paths += below.map { ($0, true) }
            folders = below.map { $0 + "/" }
        }
        return paths
    }

    @Test("each path is decided by the line that git says", .enabled(if: Program.system("git") != nil, "needs git"))
    func lines() async throws {
        let git = try #require(Program.system("git"))
        let directory = try TemporaryDirectory()
        let environment = ["HOME": directory.path, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"]
        _ = try await Program.run(git, ["init", "-q", directory.path + "/r"], environment: environment)
        let tree = Self.tree()
        for (path, isFolder) in tree where !isFolder { try LocalFiles.write([], to: directory.path + "/r/" + path) }
        let input = Array(tree.map { $0.path + "\0" }.joined().utf8)
        let seed: UInt64 = 0x161
        var generator = SeededGenerator(seed: seed)
        var (decided, ignored) = (0, 0)
        for number in 0..<200 {
            let count = Int.random(in: 1...6, using: &generator)
            let text = (0..<count).map { _ in Self.line(using: &generator) }.joined(separator: "\n") + "\n"
            try LocalFiles.write(text, to: directory.path + "/r/.gitignore")
            let result = try await Program.run(
                git, ["-c", "core.ignoreCase=true", "check-ignore", "--no-index", "-z", "-v", "-n", "--stdin"],
                environment: environment, directory: directory.path + "/r", input: input)
            let fields = result.output.split(separator: 0, omittingEmptySubsequences: false)
            #expect(fields.count == tree.count * 4 + 1)
            let rules = try IgnoreRules(text)
            for (index, entry) in tree.enumerated() where index * 4 + 2 < fields.count {
                let line = Int(String(decoding: fields[index * 4 + 1], as: UTF8.self))
                let isIgnored = line != nil && fields[index * 4 + 2].first != UInt8(ascii: "!")
                let key = PathKey(folded: "/" + entry.path)
                #expect(
                    rules.deciding(key, isFolder: entry.isFolder) == line,
                    "file \(number) \(text.debugDescription): \(entry)")
                #expect(
                    rules.excludes(key, isFolder: entry.isFolder) == isIgnored,
                    "file \(number) \(text.debugDescription): \(entry)")
                if line != nil { decided += 1 }
                if isIgnored { ignored += 1 }
            }
        }
        print("seed \(seed): 200 files on \(tree.count) paths, \(decided) times decided, \(ignored) times ignored")
        #expect(ignored > 1_000 && decided > ignored)
    }
}
