import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Notes as HTML")
struct NoteHTMLTests {
    @Test(
        "what notes are written in is shown as it is meant",
        arguments: [
            ("# A\nb", "<h2>A</h2>\n<p>b</p>\n"), ("### A\n#### B", "<h2>A</h2>\n<h3>B</h3>\n"),
            ("a\nb\n\nc", "<p>a\nb</p>\n<p>c</p>\n"), ("a  \nb\\\nc", "<p>a<br>\nb<br>\nc</p>\n"),
            (
                "- a\n- b\n1. c",
                "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol>\n<li>c</li>\n</ol>\n"
            ),
            (
                "- a\n  - b\n\n    c",
                "<ul>\n<li>a\n<ul>\n<li><p>b</p>\n<p>c</p>\n</li>\n</ul>\n</li>\n</ul>\n"
            ),
            ("3. c", "<ol start=\"3\">\n<li>c</li>\n</ol>\n"),
            (
                "**b** *i* `c*` ~~d~~ __e__",
                "<p><strong>b</strong> <em>i</em> <code>c*</code> <del>d</del> <strong>e</strong></p>\n"
            ),
            ("***a** b*", "<p><em><strong>a</strong> b</em></p>\n"),
            ("```\n<a>\n# b\n```\nc", "<pre tabindex=\"0\"><code>&lt;a&gt;\n# b\n</code></pre>\n<p>c</p>\n"),
            ("    a\n\n    b", "<pre tabindex=\"0\"><code>a\n\nb\n</code></pre>\n"),
            ("> a\nb", "<blockquote>\n<p>a\nb</p>\n</blockquote>\n"), ("a\n\n---\n", "<p>a</p>\n<hr>\n"),
            (
                "see https://a.example/b_(c).",
                "<p>see <a href=\"https://a.example/b_(c)\" rel=\"noreferrer\">https://a.example/b_(c)</a>.</p>\n"
            ),
            ("[a](mailto:a@b.c)", "<p><a href=\"mailto:a@b.c\" rel=\"noreferrer\">a</a></p>\n"),
            ("[*a*](b.md)", "<p><em>a</em></p>\n"), ("![a](b.jpg)", "<p>a</p>\n"),
            ("2 * 3 * 4 and **", "<p>2 * 3 * 4 and **</p>\n"), ("", ""), ("#a", "<p>#a</p>\n"),
            ("\\*a\\* snake_case_name", "<p>*a* snake_case_name</p>\n"),
        ])
    func shown(_ note: String, _ html: String) {
        #expect(NoteHTML(note).html == html)
    }

    @Test("tables have heads, columns stand as they were asked to, and rows have as many cells as the head")
    func tables() {
        let html = NoteHTML("| a | *b* | c |\n|:--|--:|:-:|\n| 1 | 2 \\| 3 |\n| `x` | y | z | w |\n\nend").html
        #expect(html.contains("<th scope=\"col\">a</th><th scope=\"col\" class=\"right\"><em>b</em></th>"))
        #expect(html.contains("<tr><td>1</td><td class=\"right\">2 | 3</td><td class=\"center\"></td></tr>"))
        #expect(html.contains("<td><code>x</code></td><td class=\"right\">y</td><td class=\"center\">z</td></tr>"))
        #expect(html.hasSuffix("</table></div>\n<p>end</p>\n"))
        #expect(NoteHTML("a | b\n---\n").html == "<h2>a | b</h2>\n")
    }

    @Test("tasks are boxes: buttons for who may tick them, and pictures of boxes for others")
    func tasks() {
        let note = Markdown("Pack:\n- [ ] rope\n- [x] tea")
        let form = NoteHTML(note, form: "tasks") { _ in nil }.html
        #expect(form.contains("<button class=\"box\" form=\"tasks\" name=\"line\" value=\"1\" role=\"checkbox\""))
        #expect(
            form.contains("aria-checked=\"true\" aria-labelledby=\"task-2\"></button><span id=\"task-2\">tea</span>"))
        let shown = NoteHTML(note) { _ in nil }.html
        #expect(!shown.contains("<button") && shown.contains("aria-disabled=\"true\" role=\"checkbox\""))
    }

    @Test("links to other files are what the page makes of them, and nothing else of them is shown")
    func targets() {
        let note = Markdown(
            "[hut](hut.md) ![The ridge](r.jpg) [no](secret.md) ![x](https://a.example/t.png)\n\n![b](r.jpg)")
        var photo = PhotoTile(nil, view: nil, base: "/photos/abc/", upTo: 1024)
        photo.url = "/gallery/r.jpg?a=1&b"
        let html = NoteHTML(note) { ["hut.md": .page("/gallery/hut.md"), "r.jpg": .photo(photo)][$0] }.html
        #expect(html.contains("<a href=\"/gallery/hut.md\">hut</a>") && html.contains(" no "))
        #expect(
            html.matches(of: /<a class="photo" href="\/gallery\/r.jpg\?a=1&amp;b"><img src="\/photos\/abc\//).count == 2
        )
        #expect(html.contains("<figcaption>b</figcaption>") && !html.contains("secret"))
        // A picture of another site would tell it who reads.
        #expect(html.contains("<a href=\"https://a.example/t.png\" rel=\"noreferrer\">x</a>"))
        #expect(html.matches(of: /<img\s/).count == 2)
    }

    @Test("no text becomes markup, and no link runs a script")
    func hostile() {
        for text in [
            "<script>", "[a](javascript:alert(1))", "[a](data:text/html,x)", "[<b>](https://a\"onclick=x)",
            "`<b>`", "**<b>**", "# <b>", "- <b>", "> <b>", "https://a\"><script>", "[x](JAVASCRIPT:a)",
            "<\u{301}script>", "| <b> |\n|---|\n| <script> |", "<javascript:alert(1)>", "[a](//evil.example)",
            "![\"onclick=x](\"onerror=y)", "[a](java\nscript:x)", "[a](&#106;avascript:x)", "<a@b\"onclick=x>",
        ] {
            let html = NoteHTML(Markdown(text)) { .page("/" + $0) }.html
            #expect(!html.contains("<b>") && !html.lowercased().contains("<script"), "\(html)")
            #expect(!html.lowercased().contains("href=\"javascript") && !html.contains("href=\"data"), "\(html)")
            #expect(!html.contains("\"onclick") && !html.contains("href=\"//"), "\(html)")
        }
    }

    private static let elements: Set<String> = [
        "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong",
        "del",
        "a", "img", "figure", "figcaption", "div", "span", "table", "thead", "tbody", "tr", "th", "td", "button",
    ]

    @Test("marks and words in any order make known elements, closed as they were opened, and no other markup")
    func balanced() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "#", " ", "*", "**", "_", "~~", "`", "```", "\n", "\n\n", "[a](", ")", "![", "](b.md)", "](r.jpg)",
            "http://a",
            "- ", "1. ", "  ", "    ", "> ", "<i>", "&", "\"", "'", "x", "|", "|-|-|\n", "[ ] ", "\\", "<a@b.c>", "\t",
            "ä",
            "===\n", "---\n", "\u{301}",
        ]
        var photo = PhotoTile(nil, view: nil, base: "/photos/abc/")
        photo.url = "/gallery/r.jpg"
        photo.caption = "<i>"
        for _ in 0..<1500 {
            let note = (0..<60).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let html = NoteHTML(Markdown(note), form: "tasks") { ["r.jpg": .photo(photo), "b.md": .page("/b")][$0] }
                .html
            var open: [String] = []
            for tag in html.matches(of: /<(\/?)([a-z0-9]+)((?: [-a-z]+="[^"<>]*")*)>/.matchingSemantics(.unicodeScalar))
            {
                let name = String(tag.2)
                #expect(Self.elements.contains(name), "seed \(seed): \(name)")
                if ["br", "hr", "img"].contains(name) { continue }
                if tag.1.isEmpty {
                    // Links and buttons hold none of their kind, and paragraphs nothing but a line.
                    #expect(name != "a" || !open.contains("a"), "seed \(seed): \(note)")
                    #expect(!["p", "ul", "div", "figure"].contains(name) || open.last != "p", "seed \(seed): \(note)")
                    open.append(name)
                } else {
                    #expect(open.popLast() == name, "seed \(seed): \(note)")
                }
            }
            #expect(open.isEmpty, "seed \(seed): \(note)")
            let bare = html.replacing(
                /<\/?[a-z0-9]+(?: [-a-z]+="[^"<>]*")*>/.matchingSemantics(.unicodeScalar), with: "")
            #expect(!bare.unicodeScalars.contains { "<>\"'".unicodeScalars.contains($0) }, "seed \(seed): \(note)")
            for address in html.matches(of: /(?:href|src)="([^"]*)"/) {
                let isKnown = ["http://", "mailto:", "/b", "/gallery/", "/photos/"].contains { address.1.hasPrefix($0) }
                #expect(isKnown, "seed \(seed): \(address.1)")
            }
        }
    }

    @Test(
        "the page of a note is not many times longer than the note, whatever is in it",
        arguments: [
            String(repeating: "a|", count: 64) + "\n" + String(repeating: "-:|", count: 64) + "\n"
                + String(repeating: "|\n", count: 10_000),
            String(repeating: ">>>>>>>>>>>>\n\n", count: 1500), String(repeating: "- - - - - - - - - -\n", count: 1000),
            String(repeating: "***a***", count: 3000), String(repeating: "- [ ] a\n", count: 2500),
            String(repeating: "[](b.md)", count: 2500), String(repeating: "&", count: 20_000),
            String(repeating: "#\n", count: 10_000), String(repeating: "1. \n", count: 5000),
        ])
    func amplification(text: String) {
        let html = NoteHTML(Markdown(text), form: "tasks") { _ in .page("/gallery/b.md") }.html
        #expect(html.utf8.count <= 40 * text.utf8.count, "\(html.utf8.count / text.utf8.count) times")
    }

    @Test("a row that is much shorter than the head ends with one empty cell as wide as the rest")
    func shortRows() {
        let html = NoteHTML("|a|b|c|\n|-|-|-|\n|1|\n|1|2|3|4|\n").html
        #expect(html.contains("<tr><td>1</td><td colspan=\"2\"></td></tr>"))
        #expect(html.contains("<tr><td>1</td><td>2</td><td>3</td></tr>"))
    }

    @Test("a link leads from the note's folder or from the top, and never out of the club's folder")
    func paths() throws {
        let note = try RemotePath("/trips/2026/day.md")
        for (target, path) in [
            ("hut.md", "/trips/2026/hut.md"), ("photos/a%20b.jpg#x", "/trips/2026/photos/a b.jpg"),
            ("../x.md", "/trips/x.md"),
            ("/top.md", "/top.md"), ("./a/../b.md?c", "/trips/2026/b.md"), ("../../../etc.md", nil), ("#x", nil),
            ("", nil),
            ("..", "/trips"), ("a%00b", nil), ("%2e%2e/x.md", "/trips/x.md"), ("../..", nil),
        ] {
            #expect(NoteTargets.path(of: target, in: note)?.string == path, "\(target)")
        }
    }
}
