import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

/// Resuming the file that a download has left.
@Suite struct DownloadFileTests {
    private let folder = TemporaryFolder()
    private let bytes = noise(100, seed: 1)

    /// A record of the first bytes of a part that has more of them.
    private func record(in place: String, count: Int64, total: Int64? = 1_000) throws -> ResumeRecord {
        let part = folder.write("\(place)\(ResumeRecord.prefix)1\(ResumeRecord.suffix)", bytes)
        var status = stat()
        try #require(unsafe stat(part, &status) == 0)
        let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1", path: "/f")
        return ResumeRecord(
            url: try RequestURL(request), temporary: part, inode: UInt64(status.st_ino), count: count, modified: nil,
            validator: try #require(Validator(tag: #""v1""#)),
            representation: Representation(total: total, validator: nil, fields: [:]))
    }

    /// Reads a record as a program does that was started later.
    private func continued(_ record: ResumeRecord, at path: String) throws -> DownloadFile? {
        DownloadFile(continuing: try ResumeRecord(decoding: record.encoded), at: path)
    }

    @Test("what came after the last record counts after a kill")
    func killed() throws {
        let file = try #require(try continued(try record(in: "", count: 40), at: folder.file("f")))
        #expect(file.size == 100)
        try file.publish()
        #expect(folder.read("f") == bytes)
    }

    @Test("after another start of the machine only that counts which was synced", arguments: ["", "another"])
    func powerCut(start: String) throws {
        var record = try record(in: "", count: 40)
        record.start = start
        let file = try #require(try continued(record, at: folder.file("f")))
        #expect(file.size == 40)
        try file.publish()
        #expect(folder.read("f") == Array(bytes.prefix(40)))
    }

    @Test("what is longer than the whole counts as far as it was synced")
    func tooLong() throws {
        let file = try #require(try continued(try record(in: "", count: 40, total: 99), at: folder.file("f")))
        #expect(file.size == 40)
    }

    @Test("a part is found beside its file though the folder has another name by now")
    func renamed() throws {
        try #require(unsafe mkdir(folder.file("old"), 0o755) == 0)
        let record = try record(in: "old/", count: 40)
        try #require(unsafe rename(folder.file("old"), folder.file("new")) == 0)
        let file = try #require(try continued(record, at: folder.file("new/f")))
        #expect(file.size == 100 && file.temporary.hasPrefix(folder.file("new/")))
        try file.publish()
        #expect(TemporaryFolder.entries(folder.file("new")) == ["f"])
    }
}
