import ByteClubCore
import TestSupport
import Testing

@Suite("Visible text") struct VisibleTextTests {
    /// What hides, fakes and turns text, with bytes that are no UTF-8, and what it looks like.
    private static let hostile: [UInt8] =
        Array("a\u{1B}[8m\u{7F}\u{9B}2J\u{0}\rb\u{202E}c\u{2066}d\u{2028}".utf8) + [0xE2, 0x80, 0x41, 0xFF, 0xC0, 0x9B]
    private static let shown = "a^[[8m^?<U+009B>2J^@^Mb<U+202E>c<U+2066>d<U+2028><E2><80>A<FF><C0><9B>"

    @Test("a text drives the terminal nowhere, wherever it is cut into pieces")
    func cut() {
        let text = Self.hostile + Self.hostile
        for first in 0...text.count {
            for second in first...text.count {
                var visible = VisibleText()
                var shown = visible.take(text[..<first]) + visible.take(text[first..<second])
                shown += visible.take(text[second...]) + visible.finish()
                #expect(String(decoding: shown, as: UTF8.self) == Self.shown + Self.shown)
                #expect(visible.hasSpelledOut)
            }
        }
    }

    @Test("no bytes at all become an order to a terminal")
    func anyBytes() {
        var generator = SeededGenerator(seed: 11)
        let parts: [[UInt8]] = [[0x1B], [0xC2], [0x9B], [0xE2], [0x80], [0xAE], [0xF0], [0x9F], [0x0D], [0x0A], [0x41]]
        for _ in 0..<2000 {
            var visible = VisibleText()
            var shown: [UInt8] = []
            for _ in 0..<Int.random(in: 0..<20, using: &generator) {
                let piece = (0..<3).flatMap { _ in parts[Int.random(in: 0..<parts.count, using: &generator)] }
                shown += visible.take(piece)
            }
            shown += visible.finish()
            #expect(ordersToTerminal(in: shown).isEmpty)
        }
    }

    @Test("honest texts are shown as they are, in every script and with every line end")
    func honest() {
        for text in [
            "", "trip.md\n", "a\tb\r\nc\r\n", "Grüße, 山, naïve, e\u{301}", "👩‍👩‍👧‍👦 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "علی‌رضا", "שלום\u{200F}!",
        ] {
            var visible = VisibleText()
            var shown: [UInt8] = []
            for byte in text.utf8 { shown += visible.take([byte]) }
            shown += visible.finish()
            #expect(shown == Array(text.utf8))
            #expect(!visible.hasSpelledOut)
        }
    }

    @Test("a name makes no second line, and a line that is made twice is the same")
    func line() {
        let name = String(decoding: Self.hostile, as: UTF8.self) + "\n\t\r"
        let line = VisibleText.line(name)
        #expect(
            ordersToTerminal(in: Array(line.utf8)).isEmpty && !line.utf8.contains(0x0A) && !line.utf8.contains(0x09))
        #expect(line.hasPrefix("a^[[8m^?<U+009B>2J^@^Mb<U+202E>c<U+2066>d<U+2028>") && line.hasSuffix("  ^M"))
        #expect(VisibleText.line(line) == line)
    }

    @Test("JSON says the same and drives no terminal")
    func json() throws {
        let text = "{\n  \"a\": \"x\u{9B}2J\u{7F}\u{202E}\u{2069}é\"\n}\n"
        let escaped = VisibleText.json(Array(text.utf8))
        let expected = "{\n  \"a\": \"x\\u009b2J\\u007f\\u202e\\u2069é\"\n}\n"
        #expect(String(decoding: escaped, as: UTF8.self) == expected)
    }
}
