import TestSupport
import Testing

/// The page with the APIs of the tutorials, against the sources of the programs that it names.
@Suite("The tutorials' APIs") struct TutorialPageTests {
    private static let programs = [
        "halftunes": ["Examples/halftunes", "Examples/Support"],
        "singlecast": ["Examples/singlecast", "Examples/Support"],
        "downloads": ["Examples/downloads", "Examples/Support"],
        "byteclub": ["byteclub", "ByteClubCLI", "ByteClubRemotes"],
    ]

    private static func text(_ path: String) -> String {
        String(decoding: Fixture.bytes(at: "\(Fixture.projectRoot)/Sources/\(path)"), as: UTF8.self)
    }

    /// A program's sources, one after the other.
    private static func sources(of program: String) throws -> String {
        try #require(programs[program], "'\(program)' is no program").flatMap { folder in
            FileTree("\(Fixture.projectRoot)/Sources/\(folder)").files.filter { $0.hasSuffix(".swift") }
                .map { text("\(folder)/\($0)") }
        }.joined()
    }

    /// The words between backticks.
    private static func quoted(_ text: some StringProtocol) -> [String] {
        String(text).matches(of: /`([^`]+)`/).map { String($0.output.1) }
    }

    /// The cells of the tables' rows, without the heads; the table of the texts has two columns.
    private static let rows = text("ByteClubHTTP/Documentation.docc/TutorialAPIs.md").split(separator: "\n")
        .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") && !$0.hasPrefix("| In the text") }
        .map { line in
            line.dropFirst(2).dropLast(2).split(separator: " | ", omittingEmptySubsequences: false).map(String.init)
        }

    @Test("each program that a row names is there, and uses what the row names in brackets")
    func shown() throws {
        let rows = Self.rows.filter { $0.count != 2 }
        #expect(rows.count > 90)
        var sources: [String: String] = [:]
        for program in Self.programs.keys { sources[program] = try Self.sources(of: program) }
        for row in rows {
            try #require(row.count == 3 && !row.contains(""), "\(row)")
            for group in (row.last ?? "").split(separator: ";") where !["–", "all"].contains(group) {
                let brackets = group.matches(of: /\([^)]*\)/).map { String($0.output) }
                let programs = Self.quoted(group.replacing(/\([^)]*\)/, with: ""))
                #expect(!programs.isEmpty || group.contains("<doc:"), "\(row)")
                for program in programs {
                    let source = try #require(sources[program], "no program '\(program)': \(row)")
                    for name in brackets.flatMap({ Self.quoted($0) }) {
                        #expect(source.contains(name), "\(program) does not use '\(name)': \(row)")
                    }
                }
            }
        }
    }

    @Test("the page has the APIs around sessions that the texts name")
    func named() {
        let names = Set(Self.rows.flatMap { Self.quoted($0.first ?? "") })
        for name in [
            "URLsForDirectory:inDomains:", "NSSearchPathForDirectoriesInDomains", "lastPathComponent",
            "URLByAppendingPathComponent:", "fileURLWithPath", "URLQueryAllowedCharacterSet", "dataTasks",
            "uploadTasks", "downloadTasks", "mainQueue", "addObserver:forKeyPath:options:context:", "absoluteString",
            "createDirectory(atPath:withIntermediateDirectories:attributes:)", "NSURLSession", "allowsCellularAccess",
        ] { #expect(names.contains(name), "\(name)") }
    }
}
