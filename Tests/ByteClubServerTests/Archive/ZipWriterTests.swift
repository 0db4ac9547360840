import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Records of zip files") struct ZipWriterTests {
    /// Reads the directory of an archive that begins far behind its file's start, as if the bytes before were there.
    private static let reader = """
        import json, sys, zipfile
        class Far:
            def __init__(self, path, shift):
                self.file, self.shift = open(path, "rb"), shift
            def seek(self, place, whence=0):
                if whence == 0:
                    self.file.seek(max(0, place - self.shift))
                else:
                    self.file.seek(place, whence)
                return self.tell()
            def tell(self): return self.file.tell() + self.shift
            def read(self, count=-1): return self.file.read(count)
            def seekable(self): return True
        with zipfile.ZipFile(Far(sys.argv[1], int(sys.argv[2]))) as file:
            json.dump([[i.filename, i.file_size, i.header_offset, i.CRC] for i in file.infolist()], sys.stdout)
        """

    private static func read(_ file: [UInt8], shift: UInt64) async throws -> [[Any]] {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.zip"
        try Data(file).write(to: URL(fileURLWithPath: path))
        let read = try await Program.run("/usr/bin/python3", ["-c", reader, path, "\(shift)"])
        try #require(read.status == 0, "\(read)")
        return try #require(try JSONSerialization.jsonObject(with: Data(read.text.utf8)) as? [[Any]])
    }

    @Test("what is longer than 4 GiB, or begins behind them, has the long form in every record that tells it")
    func long() async throws {
        let length: UInt64 = 5 << 30
        var writer = ZipWriter()
        let head = writer.begin(.init(name: "long.mov", modified: 1_700_000_000), length: length, sum: nil)
        let tail = writer.end(length: length, sum: 7)
        let second = writer.begin(.init(name: "after", modified: 1_700_000_000), length: 3, sum: 9)
        #expect(writer.end(length: 3, sum: 9).isEmpty)
        // The directory alone, as if all before it was there.
        let start = writer.offset
        #expect(start == UInt64(head.count) + length + UInt64(tail.count) + UInt64(second.count) + 3)
        // Long sizes in the first record, and a descriptor with them.
        #expect(head.count == 30 + 8 + 9 + 20 && tail.count == 24 && second.count == 30 + 5 + 9)
        #expect(head[4] == 45 && second[4] == 20 && head[6] == 8 && head[7] == 8 && second[6] == 0)
        #expect(head[18..<26].allSatisfy { $0 == 0xFF })
        let rows = try await Self.read(writer.finish(), shift: start)
        #expect(rows.map { $0[0] as? String } == ["long.mov", "after"])
        #expect(rows.map { $0[1] as? UInt64 } == [length, 3])
        #expect(rows.map { $0[2] as? UInt64 } == [0, start - UInt64(second.count) - 3])
        #expect(rows.map { $0[3] as? Int } == [7, 9])
    }

    @Test("more than 65,535 entries have the long end of a file")
    func many() async throws {
        var (writer, file) = (ZipWriter(), [UInt8]())
        for number in 0..<70_000 {
            file += writer.begin(.init(name: "\(number)", modified: 0), length: 0, sum: 0)
            file += writer.end(length: 0, sum: 0)
        }
        file += writer.finish()
        #expect(writer.offset == UInt64(file.count))
        let rows = try await Self.read(file, shift: 0)
        #expect(rows.count == 70_000 && rows.last?[0] as? String == "69999")
    }

    @Test(
        "times are those of MS-DOS in UTC, within its years",
        arguments: [
            (1_700_000_000, 2023, 11, 14, 22, 13, 20), (951_782_400, 2000, 2, 29, 0, 0, 0),
            (0, 1980, 1, 1, 0, 0, 0), (99_999_999_999, 2107, 12, 31, 23, 59, 58),
            (1_709_251_199, 2024, 2, 29, 23, 59, 58),
        ])
    func times(seconds: Int64, year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        let bytes = ZipWriter.dosTime(seconds).map { Int($0) }
        let (time, date) = (bytes[0] | bytes[1] << 8, bytes[2] | bytes[3] << 8)
        let days: [Int] = [(date >> 9) + 1980, date >> 5 & 15, date & 31]
        let clock: [Int] = [time >> 11, time >> 5 & 63, (time & 31) * 2]
        #expect(days == ([year, month, day] as [Int]))
        #expect(clock == ([hour, minute, second] as [Int]))
    }

    @Test("names that were made safe stay distinct")
    func safeNames() {
        #expect(ArchiveEntry.safe("..") == "_" && ArchiveEntry.safe("a\\b:c\u{7}") == "a_b_c_")
        #expect(ArchiveEntry.safe("日本 #1.jpg") == "日本 #1.jpg")
    }
}
