import Glibc
import TestSupport

/// Notes of about 1.5 KiB with the word frequencies of a language, one in ten of them Chinese.
enum GeneratedNote {
    private static let syllables = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "we", "xi",
        "yo", "zé",
    ]
    private static let vocabulary = 20_000

    /// The word of a rank, the most frequent first.
    static func word(_ rank: Int) -> String {
        var (word, rest) = ("", rank * 7_919 % (vocabulary * 8) + 20)
        while rest > 0 {
            word += syllables[rest % syllables.count]
            rest /= syllables.count
        }
        return word
    }

    /// Chinese characters, of which there are three thousand.
    static func characters(_ seed: Int, _ count: Int) -> String {
        var generator = SeededGenerator(seed: UInt64(seed))
        return (0..<count).map { _ in
            String(Unicode.Scalar(0x4E00 + UInt32(rank(of: 3_000, using: &generator))) ?? "?")
        }.joined()
    }

    /// A note.
    static func text(_ number: Int) -> [UInt8] {
        if number % 10 == 0 {
            return Array((0..<25).map { characters(number * 31 + $0, 20) + "。" }.joined(separator: "\n").utf8)
        }
        var generator = SeededGenerator(seed: UInt64(number))
        var text = "# \(word(number % vocabulary)) \(number)\n"
        var column = 0
        while text.utf8.count < 1_500 {
            text += word(rank(of: vocabulary, using: &generator))
            column += 1
            text += column % 12 == 0 ? ".\n" : " "
        }
        return Array(text.utf8)
    }

    /// A rank that is drawn as often as a word of its rank is used: twice as rarely at twice the rank.
    private static func rank(of count: Int, using generator: inout SeededGenerator) -> Int {
        let share = Double.random(in: 0..<1, using: &generator)
        return min(count - 1, Int(exp(share * log(Double(count)))) - 1)
    }
}
