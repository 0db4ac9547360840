import ByteClubCore
import TestSupport
import Testing

@Suite("Words of a shell") struct ShellWordTests {
    @Test("a word for the shell is quoted when it must be")
    func quotes() {
        #expect(ShellWord.quoted("trip.md") == "trip.md")
        #expect(ShellWord.quoted("my trip.md") == "'my trip.md'")
        #expect(ShellWord.quoted("it's") == "'it'\\''s'")
        #expect(ShellWord.quoted("-x") == "'-x'")
        #expect(ShellWord.quoted("") == "''")
        #expect(Array(ShellWord.quoted("a'\u{301};b").utf8) == Array("'a'\\''\u{301};b'".utf8))
    }

    @Test("whatever a name holds, a shell makes that name of its word and runs nothing of it")
    func realShell() async throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        print("words of a shell: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let parts = [
            "'", "\"", "\\", "\u{301}", "\u{200D}", "\u{FE0F}", ";", "$(touch pwned)", "`touch pwned`", "touch pwned",
            "\n", " ",
            "$HOME", "*", "~", "!", "&", "|", "#", "-", "=", "a", "é", "山", "\r", "\t", "\u{1B}", "\u{9B}", "{a,b}",
        ]
        let names = (0..<3000).map { _ in
            (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                parts[Int.random(in: 0..<parts.count, using: &generator)]
            }.joined()
        }
        let folder = try TemporaryDirectory()
        for shell in ["sh", "bash", "dash"].compactMap(Program.system) {
            for start in stride(from: 0, to: names.count, by: 500) {
                let words = names[start..<start + 500]
                let command = "printf '%s\\0' " + words.map(ShellWord.quoted).joined(separator: " ")
                let result = try await Program.run(shell, ["-c", command], directory: folder.path)
                #expect(result.status == 0 && result.errors.isEmpty, "\(shell), seed \(seed): \(result.errorText)")
                #expect(result.output == words.flatMap { Array($0.utf8) + [0] }, "\(shell), seed \(seed)")
            }
        }
        #expect(FileTree.names(in: folder.path) == [])
    }
}
