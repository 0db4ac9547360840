import ByteClubCore
import Testing

@testable import ByteClubSync

@Suite struct IgnoreRulesTests {
    @Test(
        "patterns mean what they mean in a .gitignore",
        arguments: [
            ("*.tmp", "/a.tmp", false, true), ("*.tmp", "/d/a.tmp", false, true), ("*.tmp", "/a.tmpx", false, false),
            ("/a", "/a", false, true), ("/a", "/b/a", false, false), ("a/", "/a", false, false),
            ("a/", "/a", true, true), ("a/", "/a/b", false, true), ("a/b", "/a/b", false, true),
            ("a/b", "/x/a/b", false, false), ("**/b", "/x/y/b", false, true), ("a/**", "/a/x/y", false, true),
            ("a/**", "/a", true, false), ("a/**/z", "/a/z", false, true), ("a/**/z", "/a/b/c/z", false, true),
            ("?.md", "/ä.md", false, true), ("?.md", "/ab.md", false, false), ("# x", "/# x", false, false),
            ("\\#x", "/#x", false, true), ("*.md\n!a.md", "/a.md", false, false), ("d\n!d/a", "/d/a", false, true),
            ("", "/~$a.doc", false, true), ("", "/.DS_Store", false, true), ("", "/.byteclub/x", false, true),
            ("", "/a/.byteclub", false, true), ("*a*b*c", "/xaybzc", false, true), ("IMG*", "/img1", false, true),
            ("[A-C]x", "/bx", false, true), ("[!a]", "/a", false, false), ("[^a]", "/b", false, true),
            ("[[:digit:]]*", "/1a", false, true), ("[[:upper:]]", "/a", false, true), ("[]-]", "/-", false, true),
            ("[ä-ü]", "/ö", false, true), ("[Ä]", "/ä", false, true), ("[a", "/[a", false, false),
            ("\\[a", "/[a", false, true), ("a ", "/a", false, true),
            ("\\!a", "/!a", false, true), ("*.md\r\n", "/a.md", false, true),
            ("a**c/d", "/abbc/d", false, true), ("a**/d", "/a/b/d", false, false), ("/*\n!/a", "/a", true, false),
            ("/*\n!/a\n/a/*\n!/a/b", "/a/b", true, false), ("/*\n!/a\n/a/*\n!/a/b", "/a/c", true, true),
            ("**", "/a/b", false, true), ("a//b", "/a/b", false, false), ("/", "/a", true, false),
            ("E\u{301}T\u{C9}", "/été", false, true),
        ])
    func matches(text: String, path: String, isFolder: Bool, expected: Bool) throws {
        #expect(try IgnoreRules(text).excludes(RemotePath(path).key, isFolder: isFolder) == expected)
    }

    @Test(
        "editors' and browsers' temporary files are left out without a line, and no file that a member would name so",
        arguments: [
            ("/.plan.md.swp", true), ("/d/.plan.md.swo", true), ("/.plan.md.swx", true), ("/.plan.md.swpx", true),
            ("/.swp", true), ("/plan.md~", true), ("/Plan.MD~", true), ("/#plan.md#", true), ("/.#plan.md", true),
            ("/.plan.md.kate-swp", true), ("/.goutputstream-X1Y2Z3", true), ("/film.mkv.part", true),
            ("/film.mkv.filepart", true), ("/d/e/film.crdownload", true), ("/.nfs00000012345678", true),
            ("/.fuse_hidden0000abcd", true),
            ("/plan.swp", false), ("/.intro.swf", false), ("/.hidden", false), ("/#plan", false), ("/plan#", false),
            ("/part", false), ("/a.part1.rar", false), ("/4913", false), ("/~plan", false), ("/.nfsrc", false),
            ("/plan~.md", false), ("/.swift", false), ("/.sw", false),
        ])
    func temporary(path: String, isLeftOut: Bool) throws {
        let key = try RemotePath(path).key
        let rules = IgnoreRules()
        #expect(rules.excludes(key, isFolder: false) == isLeftOut && !rules.excludes(key, isFolder: true))
        #expect(rules.ignores(key, isFolder: false) == isLeftOut)
        #expect(rules.deciding(key, isFolder: false) == (isLeftOut ? 0 : nil))
    }

    @Test("a line takes temporary files of a kind in again, and a later one leaves some of them out")
    func temporaryTakenIn() throws {
        let rules = try IgnoreRules("!*~\n/d/\nold~\n")
        let cases: [(String, Int?)] = [("/a.md~", 1), ("/old~", 3), ("/d/a~", 2), ("/.a.swp", 0), ("/a.md", nil)]
        for (path, line) in cases {
            #expect(try rules.deciding(RemotePath(path).key, isFolder: false) == line, "\(path)")
        }
        #expect(try !rules.excludes(RemotePath("/a.md~").key, isFolder: false))
        #expect(try rules.excludes(RemotePath("/d/a~").key, isFolder: false))
    }

    @Test("the line that decides is told, also where it lets in again")
    func deciding() throws {
        let rules = try IgnoreRules("\u{FEFF}# mine\r\n*.md\r\n\r\n!a.md\r\n/d/\r\n!/d/x\r\n")
        let cases: [(String, Bool, Int?)] = [
            ("/b.md", false, 2), ("/a.md", false, 4), ("/d", true, 5), ("/d", false, nil), ("/d/x", false, 5),
            ("/c", false, nil), ("/.DS_Store", false, nil),
        ]
        for (path, isFolder, line) in cases {
            #expect(try rules.deciding(RemotePath(path).key, isFolder: isFolder) == line, "\(path)")
        }
    }

    @Test(
        "a file's rules cannot keep the file's own correction out",
        arguments: [
            "*", ".*", "**", "/*", "/**", ".byteclubignore", "/.byteclubignore", "*ignore", "[.]*", "?*", "*\n*",
        ])
    func ownFile(text: String) throws {
        let rules = try IgnoreRules(text)
        let key = try RemotePath("/.ByteClubIgnore").key
        #expect(!rules.excludes(key, isFolder: false) && rules.deciding(key, isFolder: false) == nil)
        #expect(try text.contains("gnore") || rules.excludes(RemotePath("/.other").key, isFolder: false))
    }

    /// Patterns of about so many bytes that make a matcher that goes back try the same over and over.
    private static func hard(_ bytes: Int) -> [String] {
        let fill = { (piece: String, last: String) -> String in
            String(repeating: piece, count: (bytes - last.utf8.count) / piece.utf8.count) + last
        }
        return [
            fill("*a", "b"), fill("*", "b"), fill("?*", "b"), fill("[ab]*", "b"), fill("[!b]", "b"),
            fill("*[a-b]", "c"),
            fill("[[:alpha:]]*", "1"), fill("**/", "b"), fill("**/*a*/", "b"), fill("*a/**/", "b"), fill("a", "*b"),
            fill("\\a*", "b"), fill("ä*", "b"), "[" + fill("a-b", "") + "]*b", "[" + fill("[a", "]b"),
        ]
    }

    private static func path(_ length: Int, folders: Int) -> PathKey {
        let name = String(repeating: "a", count: length / folders - 1)
        return PathKey(folded: String(repeating: "/" + name, count: folders))
    }

    @Test("a file of hard patterns is done with long paths in a moment", .timeLimit(.minutes(1)))
    func hardPatterns() throws {
        for pattern in Self.hard(IgnoreRules.maximumPatternBytes - 7) {
            // A matcher that went back to earlier stars would not come to an end within the age of the universe.
            let rules = try IgnoreRules(Array(repeating: pattern, count: 20).joined(separator: "\n"))
            for folders in [1, 8, 64] {
                let path = Self.path(1_024, folders: folders)
                #expect(rules.deciding(path, isFolder: false) == nil, "\(pattern)")
            }
        }
    }

    @Test(
        "stars and folders take what the rest of a pattern leaves them",
        arguments: [
            ("a*b*c", "/aXbYbZc", true), ("a*b*c", "/abcb", false), ("*ab", "/aab", true), ("*aab", "/aaaab", true),
            ("*a?b*", "/abXaYYb", false), ("*a?b*", "/aXaYbX", true), ("x*", "/x", true), ("*x*", "/x", true),
            ("/**/a/b", "/a/a/b", true), ("**/a/**/b/**/c", "/a/x/b/b/y/c", true),
            ("**/a/**/b/**/c", "/b/a/c/b", false), ("/a/**/**/b", "/a/b", true), ("/a/*/b", "/a/b", false),
            ("/a/**", "/a/b/c", true), ("x/**/", "/x/y", false), ("/*/**/b", "/b", false), ("/*/**/b", "/a/b", true),
        ])
    func backtracking(pattern: String, path: String, expected: Bool) throws {
        #expect(try (IgnoreRules(pattern).deciding(RemotePath(path).key, isFolder: false) != nil) == expected)
    }

    @Test("a file with more than it may hold is refused, and comments are free")
    func limits() throws {
        let long = String(repeating: "a", count: IgnoreRules.maximumPatternBytes)
        let most = Array(repeating: "a", count: IgnoreRules.maximumPatterns).joined(separator: "\n")
        _ = try IgnoreRules(long)
        _ = try IgnoreRules(String(repeating: "# a comment\n\n", count: 5_000) + "#" + long + long + "\n" + most)
        for text in [long + "b", most + "\nb", "x\n!" + long, most + "\n" + most] {
            #expect(throws: IgnoreRules.LimitExceeded.self) { try IgnoreRules(text) }
        }
    }
}
