import ByteClubCore
import Testing

@Suite struct UnifiedDiffTests {
    private func diff(_ old: String, _ new: String) -> String? {
        UnifiedDiff.text(from: Array(old.utf8), named: "a", to: Array(new.utf8), named: "b")
    }

    @Test("a difference is written as diff writes it")
    func plain() {
        #expect(diff("1\n2\n3\n", "1\nzwei\n3\n") == "--- a\n+++ b\n@@ -1,3 +1,3 @@\n 1\n-2\n+zwei\n 3\n")
        #expect(diff("", "1\n") == "--- a\n+++ b\n@@ -0,0 +1 @@\n+1\n")
        #expect(diff("1\n", "") == "--- a\n+++ b\n@@ -1 +0,0 @@\n-1\n")
        #expect(
            diff("1", "1\n") == "--- a\n+++ b\n@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+1\n")
        #expect(diff("same\n", "same\n") == "")
    }

    @Test("changes that are far apart are shown apart, near ones together")
    func groups() {
        let old = (1...30).map { "\($0)\n" }
        var far = old
        far[2] = "x\n"
        far[25] = "y\n"
        let apart = diff(old.joined(), far.joined())
        #expect(
            apart?.split(separator: "\n").filter { $0.hasPrefix("@@") } == ["@@ -1,6 +1,6 @@", "@@ -23,7 +23,7 @@"])
        var near = old
        near[2] = "x\n"
        near.remove(at: 8)
        let together = diff(old.joined(), near.joined())
        #expect(together?.split(separator: "\n").filter { $0.hasPrefix("@@") } == ["@@ -1,12 +1,11 @@"])
    }

    @Test("what is no text has no difference")
    func binary() {
        #expect(UnifiedDiff.text(from: [0], named: "a", to: [1], named: "b") == nil)
        #expect(UnifiedDiff.text(from: [0xFF], named: "a", to: [1], named: "b") == nil)
    }
}
