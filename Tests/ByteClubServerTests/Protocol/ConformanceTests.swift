import Foundation
import TestSupport
import Testing

/// The table of the protocol's statements, `Fixtures/protocol-v1.txt`.
@Suite struct ConformanceTests {
    private struct Row {
        let key: String
        let tag: String
        let tests: [String]
        let reason: String
    }

    @Test("every statement of the protocol names tests that there are, or says why it has none")
    func table() throws {
        let rows = try Self.rows()
        let known = Self.tests()
        #expect(known.count > 300, "the tests were not found")
        for row in rows {
            #expect(["D", "O", "C"].contains(row.tag), "\(row.key)")
            #expect(row.tests.isEmpty == !row.reason.isEmpty, "\(row.key): a test or a reason, and not both")
            #expect(!row.key.isEmpty && row.key.first?.isNumber == true, "\(row.key): begins with its section")
            let missing = row.tests.filter { !known.contains($0) }
            #expect(missing.isEmpty, "\(row.key)")
        }
        #expect(Set(rows.map(\.key)).count == rows.count, "two statements have the same key")
        let covered = rows.filter { !$0.tests.isEmpty }
        print("\(rows.count) statements of the protocol: \(covered.count) shown by tests, the others not:")
        for row in rows where row.tests.isEmpty { print("  \(row.key): \(row.reason)") }
        #expect(covered.count >= 190)
    }

    private static func rows() throws -> [Row] {
        let text = String(decoding: Fixture.bytes("protocol-v1.txt"), as: UTF8.self)
        return try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(parts.count == 3, "malformed: \(line)")
            let isShown = !parts[2].hasPrefix("-")
            return Row(
                key: parts[0], tag: parts[1], tests: isShown ? parts[2].split(separator: " ").map(String.init) : [],
                reason: isShown ? "" : String(parts[2].dropFirst(2)))
        }
    }

    /// The tests in the sources, as `Suite.function`.
    private static func tests() -> Set<String> {
        let folder = Fixture.projectRoot + "/Tests"
        var tests: Set<String> = []
        for file in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? []
        where file.hasSuffix(".swift") {
            var (suite, isTest) = ("", false)
            for line in String(decoding: Fixture.bytes(at: folder + "/" + file), as: UTF8.self).split(separator: "\n") {
                if let name = word(after: "struct ", in: line), name.hasSuffix("Tests") {
                    suite = name
                } else if line.contains("@Test") {
                    isTest = true
                } else if isTest, let name = word(after: "func ", in: line) {
                    tests.insert("\(suite).\(name)")
                    isTest = false
                }
            }
        }
        return tests
    }

    private static func word(after start: String, in line: Substring) -> String? {
        guard let range = line.range(of: start) else { return nil }
        let name = line[range.upperBound...].prefix { $0.isLetter || $0.isNumber }
        return name.isEmpty ? nil : String(name)
    }
}
