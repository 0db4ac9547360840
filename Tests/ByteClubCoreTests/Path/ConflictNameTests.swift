import ByteClubCore
import Testing

@Suite struct ConflictNameTests {
    /// 2026-11-22 14:03:59 in Greenwich.
    private static let time: Int64 = 1_795_356_239

    private func name(_ name: String, by author: String?, number: Int = 1, offset: Int64 = 0) -> String {
        ConflictName.name(
            for: name, ConflictStamp(author: author, time: Self.time, offset: offset), number: number)
    }

    @Test("a conflict copy's name tells who and when, by the clocks that people read")
    func names() {
        #expect(name("plan.md", by: "bo") == "plan (bo, conflict 2026-11-22 1403).md")
        #expect(name("plan.md", by: "bo", number: 2) == "plan (bo, conflict 2026-11-22 1403 2).md")
        #expect(name("plan.md", by: nil) == "plan (conflict 2026-11-22 1403).md")
        #expect(name("Trips", by: "Ann Lee", offset: 36_000) == "Trips (Ann Lee, conflict 2026-11-23 0003)")
        #expect(name("plan.md", by: "bo", offset: -54_000) == "plan (bo, conflict 2026-11-21 2303).md")
        let early = ConflictStamp(author: "bo", time: -1)
        #expect(ConflictName.name(for: "a.b.md", early) == "a.b (bo, conflict 1969-12-31 2359).md")
    }

    @Test(
        "what does not fit into a name everywhere is left out of an author's",
        arguments: [
            ("a/b\\c:d*e?f\"g<h>i|j", "abcdefghij, "), ("J. Doe (Bo)", "J Doe Bo, "), (" a \u{a0} b\t\n ", "a b, "),
            ("\u{202e}bo\u{0}", "bo, "), ("...", ""), ("", ""), ("   ", ""),
            (String(repeating: "\u{e9}", count: 40), String(repeating: "\u{e9}", count: 24) + ", "),
        ])
    func authors(author: String, shown: String) throws {
        let name = name("plan.md", by: author)
        #expect(name == "plan (\(shown)conflict 2026-11-22 1403).md")
        try NameRules.check(name)
        #expect(ConflictName.original(of: name) == "plan.md")
    }

    @Test("a name is cut so that the whole stays within what a file system takes")
    func length() {
        let long = String(repeating: "x", count: 250) + ".md"
        let copy = name(long, by: "bo", number: 12)
        #expect(copy.utf8.count == 255 && copy.hasSuffix("x (bo, conflict 2026-11-22 1403 12).md"))
        #expect(ConflictName.isCopy(copy, of: long) && !ConflictName.isCopy(copy, of: "y.md"))
    }

    @Test("the name that a copy was made of is known, of those of earlier releases, too")
    func originals() {
        for (copy, original) in [
            ("plan (bo, conflict 2026-11-22 1403).md", "plan.md"), ("plan (conflict 2026-11-22 1403 3)", "plan"),
            ("a (b) (Doe, J, conflict 2026-11-22 1403).md", "a (b).md"), ("plan (conflict 84dc9cda).md", "plan.md"),
            ("plan (conflict 84dc9cda 2).md", "plan.md"), ("dir (conflict folder)", "dir"),
        ] {
            #expect(ConflictName.original(of: copy) == original)
            #expect(ConflictName.isCopy(copy, of: original) && ConflictName.isCopy(copy, of: original.uppercased()))
        }
    }

    @Test(
        "a member's own name is no copy of anything",
        arguments: [
            "notes (bo).md", "rules (conflict of interest).md", "plan (conflict).md", "plan (bo, conflict).md",
            "plan (conflict 1).md", "plan (conflict 2026-11-22).md", "plan (conflict 2026-11-22 14:03).md",
            "plan (conflict 2026-11-22 1403 1).md", "plan (conflict 2026-11-22 1403 x).md",
            "plan (bo conflict 2026-11-22 1403).md", "plan (bo, conflict 84dc9cda).md", "(conflict 2026-11-22 1403).md",
            "plan (conflict 2026-11-22 1403) draft.md", "plan (conflict 2026-11-22 1403) (1).md",
            "plan (conflict 2026-11-22 1403", "plan (conflicted copy).md", "plan (, conflict 2026-11-22 1403).md",
        ])
    func ownNames(name: String) {
        #expect(!ConflictName.isCopy(name) && ConflictName.original(of: name) == nil)
    }
}
