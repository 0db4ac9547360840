import ByteClubCore
import TestSupport
import Testing

@Suite("RemotePath and PathKey")
struct RemotePathTests {
    static let seed: UInt64 = 0xB17E

    private static func text(_ generator: inout SeededGenerator) -> String {
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0xA0...0x24F, 0x300...0x36F, 0x370...0x52F, 0x1E00...0x1FFF, 0x2100...0x214F, 0x3040...0x30FF,
            0xAC00...0xAC7F, 0x1F300...0x1F5FF, 0x10400...0x1044F,
        ]
        var scalars = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            guard let range = ranges.randomElement(using: &generator),
                let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)), scalar != "/", scalar != "\\"
            else { continue }
            scalars.append(scalar)
        }
        return String(scalars) + "x"
    }

    @Test("keys of random paths are stable, blind to case and composition, and ordered as trees are")
    func properties() throws {
        print("seed \(Self.seed)")
        var generator = SeededGenerator(seed: Self.seed)
        var keys: [PathKey] = []
        for _ in 0..<1_000 {
            let path = try RemotePath("/" + Self.text(&generator) + "/" + Self.text(&generator))
            #expect(try RemotePath(path.string) == path)
            #expect(try RemotePath(path.key.string).key == path.key, "\(path)")
            #expect(PathKey.fold(path.key.string) == path.key.string, "\(path)")
            let parent = try #require(path.parent)
            #expect(try parent.appending(path.name) == path)
            #expect(path.key.isBelow(parent.key) && path.key.parent == parent.key && parent.key < path.key)
            #expect(!parent.key.isBelow(path.key) && !path.key.isBelow(path.key))
            keys += [path.key, parent.key]
        }
        let sorted = Set(keys).sorted()
        for (left, right) in zip(sorted, sorted.dropFirst()) { #expect(left < right && !(right < left)) }
        for (index, key) in sorted.enumerated() {
            // A subtree is one run: once left, it does not come again.
            var run = index + 1
            while run < sorted.count, sorted[run].isBelow(key) { run += 1 }
            for later in sorted[run...].prefix(50) { #expect(!later.isBelow(key)) }
        }
    }

    @Test("case and composition do not count, accents do")
    func keys() throws {
        let same = [
            ("/A/b.TXT", "/a/B.txt"), ("/caf\u{E9}", "/CAFE\u{301}"), ("/Σ", "/σ"), ("/Ｆ", "/ｆ"), ("/\u{212A}", "/k"),
            ("/H\u{331}", "/\u{1E96}"), ("/\u{10400}", "/\u{10428}"),
        ]
        for (left, right) in same { #expect(try RemotePath(left).key == RemotePath(right).key, "\(left)") }
        for (left, right) in [("/e", "/é"), ("/ß", "/ss"), ("/a", "/b"), ("/a/b", "/a b")] {
            #expect(try RemotePath(left).key != RemotePath(right).key, "\(left)")
        }
    }

    @Test("slashes too many do not count")
    func slashes() throws {
        for text in ["", "/", "//", "///"] { #expect(try RemotePath(text).isRoot) }
        for text in ["a/b", "/a/b", "//a//b//"] { #expect(try RemotePath(text).string == "/a/b") }
        #expect(RemotePath.root.parent == nil && RemotePath.root.name.isEmpty && PathKey.root.parent == nil)
    }

    @Test(
        "bad names are refused in one line",
        arguments: [
            ".", "..", "a/../b", "./a", "a\\b", "a\u{0}b", "a\nb", "\u{7F}", "end ", "a/ /b",
            String(repeating: "n", count: 256),
            String(repeating: "é", count: 128),
        ])
    func badNames(_ text: String) {
        let error = #expect(throws: PathError.self) { try RemotePath(text) }
        #expect(error?.message.contains("\n") == false && error?.message.isEmpty == false)
    }

    @Test("a path has at most 4,096 bytes")
    func longPath() throws {
        let folder = String(repeating: "d", count: 255)
        let most = (0..<16).map { _ in folder }.joined(separator: "/")
        let path = try RemotePath(most)
        #expect(path.string.utf8.count == 4_096)
        #expect(throws: PathError.self) { try path.appending("x") }
        #expect(throws: PathError.self) { try RemotePath(most + "/x") }
        #expect(throws: PathError.self) { try RemotePath.root.appending("a/b") }
        #expect(throws: PathError.self) { try RemotePath.root.appending("") }
    }

    @Test("paths move with the folder above them")
    func rebasing() throws {
        let path = try RemotePath("/Old/Deep/file.md")
        #expect(
            try path.rebased(from: RemotePath("/old"), to: RemotePath("/New/Place"))?.string
                == "/New/Place/Deep/file.md")
        #expect(try path.rebased(from: RemotePath("/OLD/deep/FILE.md"), to: RemotePath("/x"))?.string == "/x")
        #expect(try path.rebased(from: RemotePath("/Ol"), to: RemotePath("/x")) == nil)
    }

    @Test("names that are never synced are known in any case")
    func ignored() {
        for name in ["desktop.ini", "Thumbs.DB", ".ds_Store", ".dropbox", "~$a", ".~b", "~c.TMP"] {
            #expect(NameRules.isIgnored(name), "\(name)")
        }
        for name in ["desktop.ini.md", "a~$", "~c.txt", "tmp", "x.tmp"] {
            #expect(!NameRules.isIgnored(name), "\(name)")
        }
    }

    @Test("numbers go before the extension and names stay short enough")
    func numbered() {
        #expect(NumberedName.numbered("a.tar.gz", 2) == "a.tar (2).gz")
        #expect(NumberedName.numbered(".bashrc", 1) == ".bashrc (1)")
        #expect(NumberedName.numbered("none", 1) == "none (1)")
        #expect(NumberedName.conflicted("a.md", 0) == "a (conflicted copy).md")
        #expect(NumberedName.conflicted("a.md", 3) == "a (conflicted copy 3).md")
        let long = NumberedName.numbered(String(repeating: "é", count: 126) + ".md", 1)
        #expect(long.utf8.count <= 255 && long.hasSuffix("é (1).md"))
    }
}
