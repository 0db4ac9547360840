import ByteClubCore
import Testing

@Suite("Searches in texts")
struct TextSearchTests {
    @Test(
        "words are the same whatever their case, accents, composition and width",
        arguments: [
            ("Café au LAIT", "cafe au lait"), ("cafe\u{301}", "cafe"), ("STRASSE Straße", "strasse strasse"),
            ("ΣΊΣΥΦΟΣ σίσυφος", "σισυφοσ σισυφοσ"), ("Łódź Øre Þór", "lodz ore thor"), ("ﬁn ＡＢ１", "fin ab1"),
            ("İstanbul ISTANBUL", "istanbul istanbul"), ("Ёлка", "елка"), ("soft\u{AD}hyphen", "softhyphen"),
            ("a_b-c.d", "a b c d"), ("don't", "don t"), ("  \n\t", ""), ("«!?»", ""), ("x²", "x²"),
        ])
    func folding(_ text: String, _ words: String) {
        #expect(FoldedText(text).string == words)
    }

    @Test(
        "each character is a word where a script has no blanks, and its marks stay with it",
        arguments: [
            ("停車場", "停 車 場"), ("car停車場2", "car 停 車 場 2"), ("すし", "す し"), ("ｽｼ", "ス シ"), ("🎉party", "🎉 party"),
        ])
    func characters(_ text: String, _ words: String) {
        #expect(FoldedText(text).string == words)
    }

    @Test("composed and decomposed kana and Hangul are the same, and other than without the mark")
    func marks() {
        #expect(FoldedText("が").string == FoldedText("か\u{3099}").string)
        #expect(FoldedText("ｶﾞ").string == FoldedText("ガ").string)
        #expect(FoldedText("が").string != FoldedText("か").string)
        #expect(FoldedText("한국").string == FoldedText("\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}").string)
        #expect(FoldedText("한국").string.split(separator: " ").count == 2)
        #expect(FoldedText("สวัสดี").string.split(separator: " ").count == 4)
    }

    @Test("only UTF-8 without NUL and not too long is a text")
    func texts() {
        #expect(FoldedText(content: Array("ok".utf8))?.string == "ok")
        #expect(FoldedText(content: [0x61, 0, 0x62]) == nil)
        #expect(FoldedText(content: [0xFF, 0xD8]) == nil)
        #expect(FoldedText(content: [UInt8](repeating: 0x61, count: FoldedText.maximumBytes + 1)) == nil)
        let long = FoldedText(String(repeating: "a", count: 100_000) + " b")
        #expect(long.string.utf8.count < 100, "no word is longer than one that is looked for")
    }

    private static func matches(_ query: String, _ text: String, name: String = "name.md") throws -> Bool {
        try TextQuery(query).matches(name: FoldedText(name), text: FoldedText(text))
    }

    @Test(
        "all words must be there, the last as a beginning",
        arguments: [
            ("car park", "The park has one car", true), ("car park", "The car", false),
            ("par", "a parking place", true),
            ("par car", "parking car", false), ("p", "park", false), ("name text", "a text", true),
            ("\"car park\"", "a car park", true), ("\"car park\"", "car, Park", true),
            ("\"car park\"", "a park, a car", false), ("\"car par\"", "a car park", false),
            ("“car park”", "car park", true), ("\"car park", "car park", true), ("車場", "停車場", true),
            ("場車", "停車場", false), ("か", "が", false), ("foo-bar", "foo, bar", true), ("foo-bar", "bar foo", false),
            ("CAFÉ", "cafeteria", true),
        ])
    func queries(_ query: String, _ text: String, _ isFound: Bool) throws {
        #expect(try Self.matches(query, text) == isFound)
    }

    @Test(
        "a query for a database is quoted words, whatever was typed",
        arguments: [
            ("a* OR b", "\"a\" AND \"or\" AND \"b\""), ("name:xy)", "\"name xy\"*"), ("name:x", "\"name x\""),
            ("NEAR(ab cd, 2)", "\"near ab\" AND \"cd\" AND \"2\""),
            ("\"\"\" -- ^ab {", "\"ab\""), ("ab'; DROP TABLE node", "\"ab\" AND \"drop\" AND \"table\" AND \"node\"*"),
            ("ab ab AB", "\"ab\" AND \"ab\"*"), ("停車 ab", "\"停 車\" AND \"ab\"*"), ("ab\u{0}cd", "\"ab cd\"*"),
        ])
    func expressions(_ query: String, _ expression: String) throws {
        #expect(try TextQuery(query).expression == expression)
    }

    @Test("a query of no words, and one of too many, is refused")
    func refusals() {
        for query in ["", "  ", "!?", "\"\"", String(repeating: "a", count: 1001)] {
            #expect(throws: APIError.self) { try TextQuery(query) }
        }
        #expect(throws: APIError.self) { try TextQuery((0..<33).map { "w\($0)" }.joined(separator: " ")) }
    }

    private static func snippet(_ query: String, _ text: String) throws -> String? {
        TextSnippet(of: text, try TextQuery(query))?.parts.map { $0.isMatch ? "[\($0.text)]" : $0.text }.joined()
    }

    @Test("a snippet marks what was looked for, on one line")
    func snippets() throws {
        #expect(try Self.snippet("café", "One\nCAFE\u{301}, two\tcafés.") == "One [CAFE\u{301}], two [cafés].")
        #expect(try Self.snippet("\"car park\"", "a car; a car\n  park") == "a car; a [car park]")
        #expect(try Self.snippet("車場", "大停車場です") == "大停[車場]です")
        #expect(try Self.snippet("none", "text") == nil)
        #expect(try Self.snippet("ab", "<b>ab</b>") == "<b>[ab]</b>")
    }

    @Test("a snippet is a short piece, where most of the words are")
    func places() throws {
        let filler = String(repeating: "lorem ipsum ", count: 40)
        let found = try #require(try Self.snippet("car park", "car " + filler + "the car in the park " + filler))
        #expect(found.hasPrefix("…") && found.hasSuffix("…"))
        #expect(found.contains("the [car] in the [park] lorem"))
        #expect(found.utf8.count < 220)
        let endless = String(repeating: "é", count: 10_000)
        let cut = try #require(TextSnippet(of: endless + " ab", try TextQuery("ab")))
        #expect(cut.text.utf8.count < 400 && !cut.text.contains("\u{FFFD}"))
        let itself = try #require(TextSnippet(of: endless, try TextQuery(endless.prefix(32).description)))
        #expect(itself.text.utf8.count < 400 && !itself.text.contains("\u{FFFD}"))
    }
}
