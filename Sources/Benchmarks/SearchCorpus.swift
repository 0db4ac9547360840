import FoundationEssentials
import TestSupport

/// The notes to search, and queries that are cheap or costly for different reasons.
struct SearchCorpus: Sendable {
    /// A query, by the number of the search.
    typealias Query = (name: String, words: @Sendable (Int) -> String)

    /// The corpus in a title.
    let name: String
    /// How many notes there are.
    let count: Int
    /// A note's text, by its number.
    let text: @Sendable (Int) -> [UInt8]
    /// The queries.
    let queries: [Query]

    /// Generated notes.
    static func generated(_ count: Int) -> SearchCorpus {
        SearchCorpus(
            name: "generated notes", count: count, text: GeneratedNote.text,
            queries: [
                ("a rare word", { GeneratedNote.word(4_000 + $0 * 41 % 15_000) }),
                ("a word of nearly every note", { GeneratedNote.word($0 % 8) }),
                ("two common words", { "\(GeneratedNote.word($0 % 40)) \(GeneratedNote.word(40 + $0 % 50)) " }),
                (
                    "four words",
                    { number in
                        (0..<4).map { GeneratedNote.word((number * 7 + $0 * 31) % 300) }.joined(separator: " ")
                    }
                ),
                ("a phrase", { "\"\(GeneratedNote.word($0 % 60)) \(GeneratedNote.word(($0 * 3) % 60))\"" }),
                ("the first two letters of a word", { String(GeneratedNote.word($0 % 500).prefix(2)) }),
                ("the first four letters of a word", { String(GeneratedNote.word($0 % 500).prefix(4)) }),
                ("two Chinese characters", { GeneratedNote.characters($0 * 17, 2) }),
                nothing,
            ])
    }

    /// The `.md` files of a folder, as `Config/fetch-fixtures texts` makes them.
    ///
    /// - Throws: ``Stopwatch/Failure`` when there are none with words in them.
    static func files(in folder: String, atMost count: Int) throws -> SearchCorpus {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        let paths = names.filter { $0.hasSuffix(".md") }.sorted().prefix(count).map { folder + "/" + $0 }
        var numbers: [String: Int] = [:]
        var (phrases, passages, pairs): ([String], [String], [String]) = ([], [], [])
        for path in paths {
            let text = String(decoding: content(path).prefix(1 << 16), as: UTF8.self)
            let words = text.split { !$0.isLetter }.map(String.init)
            for word in Set(words.map { $0.lowercased() }) { numbers[word, default: 0] += 1 }
            let middle = words.dropFirst(words.count / 2)
            phrases.append("\"" + middle.prefix(2).joined(separator: " ") + "\"")
            passages.append(middle.prefix(4).joined(separator: " "))
            if let run = words.first(where: { $0.unicodeScalars.allSatisfy { (0x4E00..<0xA000).contains($0.value) } }) {
                pairs.append(String(run.prefix(2)))
            }
        }
        let common = numbers.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        guard common.count > 1_000, !pairs.isEmpty else {
            throw Stopwatch.Failure(
                description: "'\(folder)' has no texts; 'Config/fetch-fixtures texts' names a folder")
        }
        let (places, words, phrase, passage, pair) = (paths, common, phrases, passages, pairs)
        return SearchCorpus(
            name: "manual pages in many languages", count: places.count,
            text: { content(places[$0]) },
            queries: [
                ("a rare word", { words[words.count / 2 + $0 * 41 % (words.count / 2)] }),
                ("a word of very many notes", { words[$0 % 8] }),
                ("two common words", { "\(words[$0 % 40]) \(words[40 + $0 % 50]) " }),
                ("four words of a passage", { passage[$0 * 17 % passage.count] }),
                ("a phrase", { phrase[$0 * 17 % phrase.count] }),
                ("the first two letters of a word", { String(words[$0 % 500].prefix(2)) }),
                ("the first four letters of a word", { String(words[$0 % 500].prefix(4)) }),
                ("two Chinese characters", { pair[$0 * 17 % pair.count] }),
                nothing,
            ])
    }

    private static func content(_ path: String) -> [UInt8] {
        FileManager.default.contents(atPath: path).map(Array.init) ?? []
    }

    private static let nothing: Query = ("nothing that is there", { "nowhere\($0)" })
}
