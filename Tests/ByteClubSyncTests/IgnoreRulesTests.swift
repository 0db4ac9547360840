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
            ("", "/a/.byteclub", false, false), ("*a*b*c", "/xaybzc", false, true), ("IMG*", "/img1", false, true),
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

    @Test("the line that decides is told, also where it lets in again")
    func deciding() throws {
        let rules = IgnoreRules("\u{FEFF}# mine\r\n*.md\r\n\r\n!a.md\r\n/d/\r\n!/d/x\r\n")
        let cases: [(String, Bool, Int?)] = [
            ("/b.md", false, 2), ("/a.md", false, 4), ("/d", true, 5), ("/d", false, nil), ("/d/x", false, 5),
            ("/c", false, nil), ("/.DS_Store", false, nil),
        ]
        for (path, isFolder, line) in cases {
            #expect(try rules.deciding(RemotePath(path).key, isFolder: isFolder) == line, "\(path)")
        }
    }

    @Test("no pattern takes long")
    func hard() throws {
        let stars = String(repeating: "*a", count: 100) + "b"
        let rules = IgnoreRules(String(repeating: "**/" + stars + "/", count: 20) + "c\n" + stars)
        let path = String(repeating: "/" + String(repeating: "a", count: 250), count: 16)
        #expect(try !rules.excludes(RemotePath(path).key, isFolder: false))
    }
}
