import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Notes as HTML")
struct NoteHTMLTests {
    @Test(
        "what notes are written in is shown as it is meant",
        arguments: [
            ("# A\nb", "<h2>A</h2>\n<p>b</p>\n"), ("a\nb\n\nc", "<p>a<br>\nb</p>\n<p>c</p>\n"),
            ("- a\n- b\n1. c", "<ul><li>a</li>\n<li>b</li>\n</ul>\n<ol><li>c</li>\n</ol>\n"),
            ("**b** *i* `c*`", "<p><strong>b</strong> <em>i</em> <code>c*</code></p>\n"),
            ("```\n<a>\n# b\n```\nc", "<pre>&lt;a&gt;\n# b\n</pre>\n<p>c</p>\n"),
            ("> a", "<blockquote>a<br>\n</blockquote>\n"),
            (
                "see https://a.example/b.",
                "<p>see <a href=\"https://a.example/b\" rel=\"noreferrer\">https://a.example/b</a>.</p>\n"
            ),
            ("[a](mailto:a@b.c)", "<p><a href=\"mailto:a@b.c\" rel=\"noreferrer\">a</a></p>\n"),
            ("2 * 3 * 4 and **", "<p>2 * 3 * 4 and **</p>\n"), ("", ""), ("#a", "<p>#a</p>\n"),
        ])
    func shown(_ note: String, _ html: String) {
        #expect(NoteHTML(note).html == html)
    }

    @Test("no text becomes markup, and no link runs a script")
    func hostile() {
        for text in [
            "<script>", "[a](javascript:alert(1))", "[a](data:text/html,x)", "[<b>](https://a\"onclick=x)",
            "`<b>`", "**<b>**", "# <b>", "- <b>", "> <b>", "https://a\"><script>", "[x](JAVASCRIPT:a)",
            "<\u{301}script>",
        ] {
            let html = NoteHTML(text).html
            #expect(!html.contains("<b>") && !html.lowercased().contains("<script"), "\(html)")
            #expect(!html.lowercased().contains("href=\"javascript") && !html.contains("href=\"data"), "\(html)")
            #expect(!html.contains("\"onclick"), "\(html)")
        }
    }

    @Test("marks and words in any order make elements that are closed as they were opened")
    func balanced() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "#", " ", "*", "**", "`", "```", "\n", "[a](", ")", "http://a", "- ", "1. ", "> ", "<i>", "&", "\"", "x",
        ]
        for _ in 0..<300 {
            let note = (0..<40).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            var open: [Substring] = []
            for tag in NoteHTML(note).html.matches(of: /<(\/?)([a-z0-9]+)[^>]*>/) where tag.2 != "br" {
                if tag.1.isEmpty {
                    open.append(tag.2)
                } else {
                    #expect(open.popLast() == tag.2, "seed \(seed): \(note)")
                }
            }
            #expect(open.isEmpty, "seed \(seed): \(note)")
        }
    }
}
