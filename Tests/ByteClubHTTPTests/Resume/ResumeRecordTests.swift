import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

@Suite struct ResumeRecordTests {
    private static func record(_ random: inout SeededGenerator) throws -> ResumeRecord {
        let hosts = ["127.0.0.1:8080", "example.org", "[::1]:9"]
        let url = try RequestURL(
            HTTPRequest(
                method: .get, scheme: Bool.random(using: &random) ? "http" : "https",
                authority: hosts[Int.random(in: 0..<3, using: &random)], path: "/a?key=\(random.next())"))
        let count = Int64.random(in: 0...(1 << 40), using: &random)
        let isTag = Bool.random(using: &random)
        let tag = try #require(Validator(tag: "\"\(random.next())é\""))
        let date = try #require(Validator(date: "Sun, 06 Nov 1994 08:49:37 GMT"))
        var fields: HTTPFields = [.contentType: "image/jpeg", .eTag: "\"x\""]
        if isTag { fields[.lastModified] = "\(random.next())" }
        return ResumeRecord(
            url: url, temporary: "/tmp/é \(random.next())/.byteclub-\(random.next()).part", inode: random.next(),
            count: count, modified: Bool.random(using: &random) ? Int64.random(in: 0 ... .max, using: &random) : nil,
            validator: isTag ? tag : date,
            representation: Representation(
                total: Bool.random(using: &random) ? count + 5 : nil, validator: nil, fields: fields))
    }

    @Test("a record is read as it was written")
    func roundTrip() throws {
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let record = try Self.record(&random)
            #expect(try ResumeRecord(decoding: record.encoded) == record, "seed \(seed)")
        }
    }

    @Test("damage at any byte, at any length, is an error and never a trap")
    func damage() throws {
        var random = SeededGenerator(seed: 5)
        let bytes = try Self.record(&random).encoded
        for index in bytes.indices {
            for change in [1, 0x80, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[index] ^= change
                #expect(throws: ResumeRecord.Damaged.self, "byte \(index)") { try ResumeRecord(decoding: damaged) }
            }
            #expect(throws: ResumeRecord.Damaged.self) { try ResumeRecord(decoding: Array(bytes[..<index])) }
        }
        #expect(throws: ResumeRecord.Damaged.self) { try ResumeRecord(decoding: bytes + [0]) }
        for seed in 0..<2000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let junk = (0..<Int.random(in: 0..<80, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next())
            }
            let head = Array("ByteHTTPresume 3".utf8)
            #expect(throws: ResumeRecord.Damaged.self) { try ResumeRecord(decoding: head + junk) }
        }
        let error = #expect(throws: TransferError.self) { try ResumeData(bytes: Array(bytes.dropLast())) }
        #expect(error?.code == .resumeDataUnusable)
    }

    @Test("a record of another version is refused as unusable", arguments: ["resume 2", "resume 4"])
    func versions(kind: String) throws {
        var random = SeededGenerator(seed: 6)
        let bytes = try Self.record(&random).encoded
        let content = try #require(SealedFile.content(of: bytes, kind: "resume 3"))
        let other = SealedFile.sealed(Array(content), kind: kind)
        for old in [other, Array("BCRD".utf8) + [2] + bytes] {
            let error = #expect(throws: TransferError.self) { try ResumeData(bytes: old) }
            #expect(error?.code == .resumeDataUnusable)
        }
    }

    @Test(
        "a record that would make us write elsewhere, or send something else, is refused although its checksum is right",
        arguments: ["temporary", "folder", "relative", "line", "host", "count", "total"])
    func forged(part: String) throws {
        var random = SeededGenerator(seed: 1)
        var record = try Self.record(&random)
        switch part {
        case "temporary": record.temporary = "/etc/passwd"
        case "folder": record.temporary = "/tmp/.byteclub-1.part/x"
        case "relative": record.temporary = ".byteclub-1.part"
        case "line": record.target = "/a\r\nX: y"
        case "host": record.authority = "user@host"
        case "count": record.count = -1
        default: record.total = record.count - 1
        }
        #expect(throws: ResumeRecord.Damaged.self) { try ResumeRecord(decoding: record.encoded) }
    }

    @Test("cookies and an endless head are not kept")
    func fields() throws {
        var random = SeededGenerator(seed: 2)
        var record = try Self.record(&random)
        record.fields.append(HTTPField(name: .setCookie, value: "secret=1"))
        record.fields.append(HTTPField(name: .server, value: String(repeating: "x", count: 100_000)))
        let read = try ResumeRecord(decoding: record.encoded)
        #expect(!read.fields.contains(.setCookie) && !read.fields.contains(.server))
        #expect(read.fields[.contentType] == "image/jpeg")
    }
}
