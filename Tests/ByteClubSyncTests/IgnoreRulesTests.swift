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
        ])
    func matches(text: String, path: String, isFolder: Bool, expected: Bool) throws {
        #expect(try IgnoreRules(text).excludes(RemotePath(path).key, isFolder: isFolder) == expected)
    }
}
