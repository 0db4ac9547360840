import ByteClubCore
import TestSupport

@testable import ByteClubSync

/// What goes ways of its own: files of several chunks, and many new files at once.
extension CrashScenario {
    static let large: [Self] = [
        Self(
            name: "a file of several chunks", mine: [.write("big", pieces("a", "b"))],
            makes: ["big": pieces("a", "b")], stride: 37),
        Self(
            name: "an edit of one chunk of a file", start: ["big": pieces("a", "b")],
            mine: [.save("big", pieces("a", "d"))], makes: ["big": pieces("a", "d")], stride: 37),
        Self(
            name: "edits of a file of several chunks by both", start: ["big": pieces("a", "b")],
            mine: [.write("big", pieces("a", "c"))], theirs: [.write("big", pieces("d", "b"))],
            makes: ["big": pieces("d", "b"), copy("big", pieces("a", "c")): pieces("a", "c")],
            mirroredMakes: ["big": pieces("a", "c"), copy("big", pieces("d", "b")): pieces("d", "b")],
            stride: 31, isExtra: true),
        Self(
            name: "over plain v1, an edit of a file of several chunks", start: ["big": pieces("a", "b")],
            mine: [.write("big", pieces("a", "d"))], makes: ["big": pieces("a", "d")], usesExtension: false,
            stride: 37),
        Self(
            name: "over plain v1, many new files at once", start: [:],
            theirs: (1...70).map { .write("\($0)", "\($0)\n") },
            makes: (1...70).reduce(into: [:]) { $0["\($1)"] = "\($1)\n" }, usesExtension: false, stride: 31,
            hasMirrored: false),
        Self(
            name: "over plain v1, many new files of which some are there", start: [:],
            mine: [.write("7", "7\n"), .write("8", "mine\n"), .folder("9")],
            theirs: (1...70).map { .write("\($0)", "\($0)\n") },
            makes: (1...70).reduce(into: [copy("8", "mine\n"): "mine\n", folderCopy("9") + "/": ""]) {
                $0["\($1)"] = "\($1)\n"
            }, usesExtension: false, stride: 61, hasMirrored: false),
        Self(
            name: "over plain v1, more new files than are held in memory at once", start: [:],
            theirs: (1...136).map { .write("\($0)", filled($0)) },
            makes: (1...136).reduce(into: [:]) { $0["\($1)"] = filled($1) }, usesExtension: false, stride: 900,
            isExtra: true, hasMirrored: false),
    ]

    /// A text that just counts as a small file.
    private static func filled(_ number: Int) -> String { "\(number) " + String(repeating: "x", count: 62_000) + "\n" }

    /// A text that is cut into these pieces, of 256 KiB each and a little more.
    private static func pieces(_ letters: Character...) -> String {
        letters.map { String(repeating: $0, count: ContentChunker.smallest) + cut }.joined() + "\n"
    }

    /// The letters after which a cut comes, as found in random ones.
    private static let cut: String = {
        var random = SeededGenerator(seed: 1)
        while true {
            let letters = (0..<ContentChunker.normal).map { _ in UInt8.random(in: 97...122, using: &random) }
            let end = ContentChunker.cut(letters, atMost: letters.count)
            if end < letters.count { return String(decoding: letters[(end - 64)..<end], as: UTF8.self) }
        }
    }()
}
