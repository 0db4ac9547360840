import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Names in zip files") struct ArchiveNameTests {
    private static func entries(_ paths: [String], below folder: String = "/Trip") throws -> [ArchiveEntry] {
        let root = try RemotePath(folder)
        return ArchiveEntry.distinct(
            try paths.map { path in
                let isFolder = path.hasSuffix("/")
                return ArchiveEntry(
                    FolderEntry(
                        path: try RemotePath(folder + "/" + path), isFolder: isFolder, revision: 1, bytes: 0,
                        contentHash: nil, modified: APIDate(seconds: 0), author: 0), of: root)
            })
    }

    @Test("names that are the same once they are safe get numbers, and what is in a folder follows it")
    func collisions() throws {
        let names = try Self.entries(["a:/", "a:/x.md", "a_/", "a_/x.md", "b:", "b_/", "b_/y.md", "c:d.md", "c_d.md"])
            .map(\.name)
        #expect(
            names == [
                "Trip/a_", "Trip/a_/x.md", "Trip/a_ (1)", "Trip/a_ (1)/x.md", "Trip/b_", "Trip/b_ (1)",
                "Trip/b_ (1)/y.md", "Trip/c_d.md", "Trip/c_d (1).md",
            ])
        // A number that is taken is left out, and what has it keeps its name or gets another one.
        let taken = try Self.entries(["a (1)", "a:", "a_", "a_ (1)"]).map(\.name)
        #expect(Set(taken).count == 4 && taken.contains("Trip/a (1)"))
    }

    @Test("no name leads out of the folder that it is unpacked in, on any system")
    func slips() throws {
        let hostile = [
            "C:evil.md", "...md", "a\u{301}:b.md", "\u{301}x.md", "d/\u{301}y.md", "CON.md", "::$DATA", "a:b:c",
            "..:..:x.md", ".. .md",
        ]
        let entries = try Self.entries(hostile)
        for entry in entries {
            #expect(entry.name.utf8.starts(with: "Trip/".utf8))
            #expect(!entry.name.utf8.contains { ":\\".utf8.contains($0) }, "\(entry.name)")
            let parts = entry.name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            #expect(parts.allSatisfy { !$0.isEmpty && String($0) != ".." && String($0) != "." }, "\(entry.name)")
            #expect(entry.name.unicodeScalars.allSatisfy { $0.value >= 0x20 })
        }
        // A mark on a slash is no other letter.
        let marked = try #require(entries.first { $0.path.hasSuffix("y.md") })
        #expect(marked.name.utf8.elementsEqual("Trip/d/\u{301}y.md".utf8))
        #expect(ArchiveEntry.safe("..") == "_" && ArchiveEntry.safe("") == "_" && ArchiveEntry.safe("a/b") == "a_b")
    }

    @Test("ten thousand names that are the same once they are safe take no longer than other names")
    func time() throws {
        let paths = (0..<8192).map { number in
            String((0..<13).map { number >> $0 & 1 == 0 ? ":" : "_" }) + ".md"
        }
        let start = ProcessorTime.ofThisThread
        let names = try Self.entries(paths).map(\.name)
        let time = ProcessorTime.ofThisThread - start
        #expect(Set(names).count == paths.count)
        #expect(time < 5, "\(time) s")
    }
}
