import ByteClubCore
import TestSupport
import Testing

@Suite("The source of a note in parts") struct MarkdownSourceTests {
    private static func parts(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        return Markdown.sourceParts(of: bytes).map { part in
            let written = { (range: Range<Int>) in String(decoding: bytes[range], as: UTF8.self) }
            switch part {
            case .text(let range): return "text " + written(range)
            case .heading(let range): return "heading " + written(range)
            case .pictures(_, let pictures, let isAlone):
                let names = pictures.map { "\($0.text)=\($0.target)" }.joined(separator: " ")
                return "\(isAlone ? "alone" : "among") \(names)"
            }
        }
    }

    @Test("headings and pictures are apart, and all else is text")
    func kinds() {
        #expect(
            Self.parts("# Trip\r\ntext\nmore\n\n![A](a.jpg)\nend")
                == ["heading # Trip\r\n", "text text\nmore\n\n", "alone A=a.jpg", "text end"])
        #expect(Self.parts("see ![A](a.jpg) and ![](<b c.jpg>)") == ["among A=a.jpg =b c.jpg"])
        #expect(
            Self.parts("- ![A](a.jpg)  ![B](b.jpg)\n> 1. ![C](c.jpg)\n") == ["alone A=a.jpg B=b.jpg", "alone C=c.jpg"])
        #expect(Self.parts("[![A](a.jpg)](b.md)") == ["alone A=a.jpg"])
        #expect(Self.parts("\u{FEFF}# A") == ["heading \u{FEFF}# A"])
        #expect(Self.parts("") == [])
    }

    @Test(
        "what is code, escaped, in a table or of another site is no picture",
        arguments: [
            "```\n![A](a.jpg)\n# no\n```\n", "~~~~\n```\n![A](a.jpg)\n~~~\n~~~~\n", "`![A](a.jpg)`\n",
            "\\![A](a.jpg\n", "text\n\n    ![A](a.jpg)\n", "| a |\n|---|\n| ![A](a.jpg) |\n",
            "![A](https://example.org/a.jpg)\n", "![A](//example.org/a.jpg)\n", "> ```\n> ![A](a.jpg)\n> ```\n",
            "#hash\n", "![A] (a.jpg)\n",
        ])
    func others(_ text: String) {
        #expect(Self.parts(text) == ["text " + text])
    }

    @Test("code ends with its fence, and a quoted one with the quotation")
    func fences() {
        #expect(Self.parts("```\nx\n```\n![A](a.jpg)").last == "alone A=a.jpg")
        #expect(Self.parts("> ```\n> x\n\n![A](a.jpg)").last == "alone A=a.jpg")
        #expect(Self.parts("- item\n  ```\n  x\n  ```\n  ![A](a.jpg)").last == "alone A=a.jpg")
    }

    @Test("the parts are all bytes of any note, and the pictures those of the tree")
    func same() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let lines = [
            "", "", "text", "# heading", "![A](a.jpg)", "two ![B](b.jpg) and ![C](../c.jpg) here", "- item",
            "- ![D](d.jpg)", "  - inner ![E](/e.jpg)", "1. first", "> quoted ![F](f.jpg)", "> quoted", "---",
            "![G](https://example.org/g.jpg)", "`![H](h.jpg)`", "\\![I](i.jpg)", "**bold ![J](j.jpg)**",
            "- [ ] ![K](k.jpg)", "```\n![L](l.jpg)\n```", "| a | b |\n|---|---|\n| c | d |", "\r", "\u{1B}[31m",
        ]
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0...12, using: &random))
                .compactMap { _ in lines.randomElement(using: &random) }.joined(separator: "\n")
            let (bytes, parts) = (Array(text.utf8), Markdown.sourceParts(of: Array(text.utf8)))
            var (written, found): ([UInt8], [String]) = ([], [])
            for part in parts {
                switch part {
                case .text(let range), .heading(let range): written += bytes[range]
                case .pictures(let range, let pictures, _):
                    written += bytes[range]
                    found += pictures.map(\.target)
                }
            }
            #expect(written == bytes, "seed \(seed): \(text.debugDescription)")
            var expected: [String] = []
            Markdown(text).forEachInline { inline in
                if case .image(_, let target) = inline, !Markdown.hasScheme(target) { expected.append(target) }
            }
            #expect(found == expected, "seed \(seed): \(text.debugDescription)")
        }
    }

    @Test("hostile bytes and long lines are read in a time that is linear")
    func hostile() {
        for text in ["![", "![](", "> ", "- ", "`", "```\n", "# ", "![a](b)\n", "[![", "|"] {
            let bytes = Array(String(repeating: text, count: 40_000).utf8)
            #expect(!Markdown.sourceParts(of: bytes).isEmpty)
        }
        #expect(Markdown.sourceParts(of: [0xFF, 0x0A, 0xC3]) == [.text(0..<3)])
    }

    @Test("targets are relative to the note's folder, or to the top, and never lead out of it")
    func targets() throws {
        let note = try RemotePath("/byteclub/Trips/day.md")
        for (target, path) in [
            ("a.jpg", "/byteclub/Trips/a.jpg"), ("../photos/a%20b.jpg", "/byteclub/photos/a b.jpg"),
            ("./a.jpg?x#y", "/byteclub/Trips/a.jpg"), ("/byteclub/photos/a.jpg", "/byteclub/photos/a.jpg"),
            ("", nil), ("#top", nil), ("../../..", nil), ("../../../a.jpg", nil), ("%", nil), ("%zz", nil), ("/", nil),
            ("%C3", nil), ("a%00.jpg", nil),
        ] as [(String, String?)] {
            #expect(Markdown.path(of: target, in: note)?.string == path, "\(target)")
        }
    }
}
