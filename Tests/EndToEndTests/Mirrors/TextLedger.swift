import TestSupport
import Testing

/// Which lines were written, and which of them somebody who saw them has taken away.
struct TextLedger {
    private(set) var issued: Set<String> = []
    private(set) var excused: Set<String> = []
    private(set) var deleted: Set<String> = []

    mutating func issue(by name: String, length: Int) -> String {
        let line = "line \(issued.count) by \(name) " + String(repeating: "x", count: length)
        issued.insert(line)
        return line
    }

    /// Somebody replaces or deletes these: they need not be found.
    mutating func excuse(_ lines: Set<String>) { excused.formUnion(lines) }

    /// These must not be found in a file any more.
    mutating func delete(_ lines: Set<String>) { deleted.formUnion(lines) }

    static func lines(in bytes: [UInt8]) -> Set<String> {
        Set(bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) })
    }

    static func lines(of file: String) -> Set<String> { lines(in: Fixture.bytes(at: file)) }

    static func lines(below folder: String) -> Set<String> {
        var lines: Set<String> = []
        for path in FileTree.paths(below: folder) where !PhotoLedger.isPhoto(path) {
            lines.formUnion(self.lines(of: folder + "/" + path))
        }
        return lines
    }

    /// The lines of all that the server keeps, old versions included.
    static func lines(ofServer data: String) async throws -> Set<String> {
        let script = """
            import sqlite3, sys
            for row in sqlite3.connect(sys.argv[1]).execute("select bytes from content"):
                sys.stdout.buffer.write(bytes(row[0]) + b"\\n")
            """
        let result = try await Program.run("/usr/bin/python3", ["-c", script, data + "/byteclub.sqlite"])
        try #require(result.status == 0, "\(result.errorText)")
        return lines(in: result.output)
    }
}
