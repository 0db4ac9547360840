import ByteClubCore
import Foundation
import TestSupport
import Testing

@Suite("Wire values")
struct APIValueTests {
    @Test("dates of 400 years are read back, and agree with another calendar")
    func dates() throws {
        print("seed 400")
        var generator = SeededGenerator(seed: 400)
        let start: Int64 = -11_676_096_000
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for day in 0..<(146_097 as Int64) where day % 29 == 0 || day < 2_000 {
            let seconds = start + day * 86_400 + Int64.random(in: 0..<86_400, using: &generator)
            let date = APIDate(seconds: seconds)
            #expect(APIDate(date.description) == date, "\(seconds)")
            if (-62_000_000_000...253_402_300_799).contains(seconds) {
                #expect(APIDate(rfc3339: date.rfc3339) == date, "\(seconds)")
            }
            if day % 501 == 0 {
                let parts = calendar.dateComponents(
                    [.year, .day, .hour], from: Date(timeIntervalSince1970: Double(seconds)))
                let words = date.description.split(whereSeparator: { $0 == " " || $0 == ":" })
                #expect(Int(words[1]) == parts.day && Int(words[3]) == parts.year && Int(words[4]) == parts.hour)
            }
        }
        #expect(APIDate(seconds: 1_282_429_880).description == "Sat, 21 Aug 2010 22:31:20 +0000")
        #expect(APIDate(seconds: 1_282_429_880).rfc3339 == "2010-08-21T22:31:20Z")
        for text in ["", "2010-08-21", "2010-13-21T22:31:20Z", "2010-02-30T22:31:20Z", "2010-08-21T22:31:20+01:00"] {
            #expect(APIDate(rfc3339: text) == nil, "\(text)")
        }
        #expect(APIDate("Sat, 1 Jan 2011 00:00:00 GMT")?.seconds == 1_293_840_000)
        for text in [
            "", "Sat, 21 Aug 2010", "Sat, 31 Feb 2010 00:00:00 +0000", "Sat, 21 Aug 2010 24:00:00 +0000",
            "Sat,21 Aug 2010 22:31:20 +0000", "Sat, 21 Aug 2010 22: 31:20 +0000", " Sat, 21 Aug 2010 22:31:20 +0000",
            "Saturday, 21 Aug 2010 22:31:20 +0000",
            "Sat, 29 Feb 2100 00:00:00 +0000", "Sat, 21 Aug 2010 22:31:20 +0100", "Sat, 021 Aug 2010 22:31:20 +0000",
        ] {
            #expect(APIDate(text) == nil, "\(text)")
        }
    }

    @Test("sizes read as people read them")
    func sizes() {
        let rows: [(Int64, String)] = [
            (-1, "0 bytes"), (0, "0 bytes"), (27, "27 bytes"), (1023, "1023 bytes"), (1024, "1.0 KB"), (1310, "1.3 KB"),
            (230_783, "225.4 KB"), (1_048_575, "1.0 MB"), (2_411_725, "2.3 MB"), (.max, "8.0 EB"),
        ]
        for (bytes, text) in rows { #expect(HumanSize.text(bytes) == text) }
        for (text, bytes) in [("800", 800), ("2M", 2 << 20), ("1.5GiB", 3 << 29), ("10g", 10 << 30)] {
            #expect(HumanSize.read(text) == Int64(bytes), "\(text)")
        }
        for bytes in [1, 800, 1023, 1024, 1 << 20, 1_000_000_000_000_000] as [Int64] {
            #expect(HumanSize.read(HumanSize.exact(bytes)) == bytes)
        }
        for text in ["", "G", "-1", "1x", "1..5M", "0", "1e3", "9999999G", "1T"] {
            #expect(HumanSize.read(text) == nil, "\(text)")
        }
    }

    @Test("a file's time is whole seconds and what these leave out, also before 1970")
    func fileTimes() {
        for (nanoseconds, seconds, fraction) in [
            (0, 0, 0), (1_500_000_001, 1, 500_000_001), (-1, -1, 999_999_999), (-1_000_000_000, -1, 0),
            (.max, 9_223_372_036, 854_775_807), (.min, -9_223_372_037, 145_224_192),
        ] as [(Int64, Int64, Int64)] {
            let time = FileTime(nanoseconds: nanoseconds)
            #expect(time.date.seconds == seconds && time.fraction == fraction)
            #expect(FileTime(seconds: seconds, nanoseconds: fraction) == time)
        }
        #expect(FileTime(seconds: 9_223_372_037) == nil && FileTime(seconds: .min) == nil)
        #expect(FileTime(seconds: 0, nanoseconds: 1_000_000_000) == nil)
        #expect(FileTime(seconds: 0, nanoseconds: -1) == nil)
    }

    @Test("metadata follow from an entry, and only path and kind must be there when they are read")
    func metadata() throws {
        let entry = FolderEntry(
            path: try RemotePath("/Notes/Trip.md"), isFolder: false, revision: 421, bytes: 1310,
            contentHash: ContentHasher.hash([]), modified: APIDate(seconds: 1_375_780_500), author: 1)
        let metadata = Metadata(entry)
        #expect(metadata.rev?.description == "1a500000001" && metadata.modified == metadata.clientModified)
        #expect(metadata.size == "1.3 KB" && metadata.icon == "page_white_text")
        #expect(metadata.clientModified?.description == "Tue, 06 Aug 2013 09:15:00 +0000")
        #expect(!metadata.isDeleted && metadata.hash == nil && metadata.contents == nil)
        let read = try JSONReader.read(Metadata.self, from: Array(#"{"path": "/b", "is_dir": true}"#.utf8))
        #expect(read.path.string == "/b" && read.isFolder && read.rev == nil && read.contents == nil)
        var gone = entry
        gone.isDeleted = true
        let told = Metadata(gone)
        #expect(told.isDeleted && told.bytes == 0 && told.contentHash == nil && told.clientModified != nil)
        #expect(Metadata(.root).rev == nil && Metadata(.root).modified == nil)
    }

    @Test("an account needs its numbers, and quotas that no disk has do not overflow")
    func account() throws {
        let read = { (quota: String) throws(JSONError) in
            try JSONReader.read(
                Account.self, from: Array(#"{"uid": 1, "display_name": "Ann", "quota_info": \#(quota)}"#.utf8))
        }
        let most = try read(#"{"quota": 1, "normal": 9223372036854775807, "shared": 1}"#)
        #expect(most.quotaInfo.used == .max && most.email == nil && most.locale == nil)
        for part in ["quota", "normal", "shared"] {
            let others = ["quota", "normal", "shared"].filter { $0 != part }.map { "\"\($0)\": 1" }
            let error = #expect(throws: JSONError.self) { _ = try read("{" + others.joined(separator: ",") + "}") }
            #expect(error?.description == "'quota_info' has no '\(part)'")
        }
    }

    @Test("a page of changes is arrays of two, with null for what is gone")
    func delta() throws {
        let text =
            #"{"reset": false, "cursor": "c", "has_more": true, "entries": [["/a", null], ["/b", {"path": "/B", "is_dir": true}]]}"#
        let page = try JSONReader.read(DeltaPage.self, from: Array(text.utf8))
        #expect(page.entries.map(\.key.string) == ["/a", "/b"] && page.hasMore)
        #expect(page.entries[0].metadata == nil && page.entries[1].metadata?.isFolder == true)
    }

    @Test("revisions are the number, then eight digits of the namespace")
    func revisions() {
        #expect(JournalRevision(number: 421).description == "1a500000001")
        #expect(JournalRevision("1A500000001") == JournalRevision(number: 421))
        for text in [
            "", "1", "00000001", "zzz00000001", "-1a500000001", "ffffffffffffffff00000001",
            String(repeating: "1", count: 25),
        ] {
            #expect(JournalRevision(text) == nil, "\(text)")
        }
        let ninth = JournalRevision(number: 9)
        #expect(ninth < JournalRevision(number: 10) && ninth < JournalRevision(number: 1, namespace: 2))
        #expect(JournalRevision(ninth.revision) == ninth && ninth.revision.description == ninth.description)
    }

    @Test("to a client, a revision is any short printable text, the same to the byte or another")
    func opaqueRevisions() throws {
        for text in ["1a500000001", "\"5e-00000001\"", "W/\"a b\"", "\u{E9}", String(repeating: "x", count: 256)] {
            #expect(Revision(text)?.description == text, "\(text)")
        }
        for text in ["", "a\n", "\0", "\u{7F}", "\u{85}", String(repeating: "x", count: 257)] {
            #expect(Revision(text) == nil, "\(text.debugDescription)")
        }
        #expect(Revision("1a5") != Revision("1A5") && Revision("\u{E9}") != Revision("e\u{301}"))
        #expect(Revision("ETag").flatMap { JournalRevision($0) } == nil)
    }

    @Test("types follow from the extension in any case")
    func types() {
        #expect(MediaType(name: "x.JPG").hasThumbnail && MediaType(name: "x.jpeg").icon == "page_white_picture")
        #expect(MediaType(name: "x.md").mime == "text/markdown" && MediaType(name: "x.md").isText)
        #expect(MediaType(name: "jpg").mime == "application/octet-stream" && !MediaType(name: ".jpg").hasThumbnail)
        for name in ["x.HEIC", "x.heif", "x.avif", "x.tif", "x.TIFF", "x.webp", "x.dng", "x.mov", "x.mp4", "x.webm"] {
            #expect(MediaType(name: name).mayTellPlace && !MediaType(name: name).hasThumbnail, "\(name)")
        }
        for name in ["x.jpg", "x.png", "x.gif", "x.md", "x.pdf", "x.mp3", "mov"] {
            #expect(!MediaType(name: name).mayTellPlace, "\(name)")
        }
    }

    @Test("a search is blind to case and accents, and needs every word")
    func search() throws {
        let query = try SearchQuery("  Tex  CAFÉ ")
        #expect(query.matches("cafe téxt.md") && query.matches("TEXCAFE\u{301}") && !query.matches("text.md"))
        for blank in [" \t", ""] { #expect(throws: APIError.self) { try SearchQuery(blank) } }
    }
}
