import ByteClubCore
import TestSupport
import Testing

@Suite("Markdown as people write it")
struct MarkdownTests {
    private static func words(_ text: String) -> String { Markdown(text).plainText() }

    @Test(
        "previews have the words and no marks",
        arguments: [
            ("# The *hut*\n\nWe [slept](hut.md) **well**.", "The hut\nWe slept well."),
            ("a\nb  \nc\\\nd", "a b\nc\nd"), ("- [ ] rope\n- [x] tea", "☐ rope\n☑ tea"),
            ("| a | b |\n|---|--:|\n| 1 | 2 |", "a, b\n1, 2"), ("> one\ntwo", "one two"),
            ("```swift\nlet x\n```", "let x"), ("![The ridge](photos/ridge.jpg)", "The ridge"),
            ("3. three\n4. four", "3. three\n4. four"), ("Title\n=====\ntext", "Title\ntext"),
            ("\u{FEFF}# A", "A"), ("2 * 3 * 4, snake_case_name, ~~no~~ 5*6*7", "2 * 3 * 4, snake_case_name, no 567"),
        ])
    func plain(text: String, words: String) {
        #expect(Self.words(text) == words)
    }

    @Test("a preview is as long as it may be, and has the title apart")
    func limits() {
        let preview = Markdown.preview(of: "# Trip\n\n" + String(repeating: "word ", count: 1000), limit: 50)
        #expect(preview.title == "Trip" && preview.text.hasPrefix("word word") && preview.text.count == 50)
        #expect(Markdown.plainText(of: String(repeating: "ä", count: 9000), limit: 7) == "äääääää")
        #expect(Markdown.preview(of: "", limit: 10) == ("", ""))
    }

    @Test("lists nest, loosely indented too, and keep what belongs to an item")
    func lists() throws {
        let note = Markdown("1. one\n  - inner\n    more\n2. two\n\n   a paragraph\n\ntext")
        guard case .list(let list)? = note.blocks.first else {
            Issue.record("no list: \(note)")
            return
        }
        #expect(list.start == 1 && list.items.count == 2 && !list.isTight && note.blocks.count == 2)
        guard case .list(let inner)? = list.items[0].blocks.last else {
            Issue.record("no inner list: \(list)")
            return
        }
        #expect(inner.start == nil && inner.isTight && list.items[1].blocks.count == 2)
    }

    @Test("a year at the start of a line begins no list in a paragraph")
    func years() {
        #expect(Markdown("It was in\n1984. We slept.").blocks.count == 1)
    }

    @Test(
        "a task is turned over on its line, and nowhere else",
        arguments: [
            ("a\n- [ ] b", 1, "a\n- [x] b"), ("- [X] b\n", 0, "- [ ] b\n"), ("> 1. [ ] b\r\nc", 0, "> 1. [x] b\r\nc"),
            ("- b [ ]", 0, nil), ("- [ ] b", 1, nil), ("- [ ] b", -1, nil), ("", 0, nil), ("- [y] b", 0, nil),
        ])
    func tasks(text: String, line: Int, toggled: String?) {
        #expect(Markdown.toggled(line: line, of: text) == toggled)
    }

    @Test("each task knows a line on which it can be turned over")
    func taskLines() {
        let text = "# T\n\n- [ ] a\n  - [x] b\n\n> - [ ] c\n"
        var note = text
        for line in [2, 3, 5] { note = Markdown.toggled(line: line, of: note) ?? "" }
        #expect(note == "# T\n\n- [x] a\n  - [ ] b\n\n> - [x] c\n")
        #expect("\(Markdown(text))".matches(of: /line: (\d)/).map { String($0.1) } == ["2", "3", "5"])
    }

    @Test("links to other files are told, and those with a scheme are not")
    func targets() {
        let note = Markdown("[a](b.md) ![c](<d e.jpg>) [f](https://g.example) [h](javascript:i) [j](k.md \"title\")")
        #expect(note.relativeTargets == ["b.md", "d e.jpg", "k.md"])
    }

    @Test(
        "64 KiB of marks take no longer than 64 KiB of words, times a hundred",
        arguments: [
            "[", "*", "_*", "> ", "|", "- ", "`", "``` ", "[a](", "![", "**a ", "*a_ ", "~~", "<", "http://", "1. ",
            "  - a\n", "|a|b|\n|-|-|\n", "\\", "(", "[]()", "[a](b", "a*", "\n> ", "- [ ] ", "\t", "*a **b ", "<a@",
        ])
    func hostile(piece: String) {
        let count = (64 << 10) / piece.utf8.count
        var shapes = [String(repeating: piece, count: count)]
        shapes.append(shapes[0] + String(repeating: String(piece.reversed()), count: count))
        shapes.append((0..<300).map { String(repeating: " ", count: $0) + piece }.joined(separator: "\n"))
        for text in shapes {
            let start = ProcessorTime.ofThisThread
            let note = Markdown(text)
            let time = ProcessorTime.ofThisThread - start
            #expect(time < 5, "\(time) s for \(piece)")
            // Writing and freeing it need no deep stack.
            #expect(note.plainText().utf8.count <= 8 * text.utf8.count)
        }
    }
}
