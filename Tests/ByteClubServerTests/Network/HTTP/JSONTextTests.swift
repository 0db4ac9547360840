import ByteClubCore
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct JSONTextTests {
    private static func entry(_ path: String, number: Int64, isFolder: Bool = false, isDeleted: Bool = false) throws
        -> Metadata
    {
        Metadata(
            FolderEntry(
                path: try RemotePath(path), isFolder: isFolder, isDeleted: isDeleted, revision: number,
                bytes: isFolder || isDeleted ? 0 : number * 1000,
                contentHash: isFolder || isDeleted ? nil : ContentHasher.hash([1, 2, 3]),
                modified: APIDate(seconds: 1_375_780_500 + number),
                clientModified: isDeleted ? nil : FileTime(nanoseconds: number), author: 1),
            by: isDeleted ? nil : Modifier(uid: 1, displayName: "Zo\u{EB} \"Z\""))
    }

    /// Whether a value's text has the value when it is read.
    private static func comesBack<Value: JSONReadable & JSONWritable & Equatable>(_ value: Value) throws -> Bool {
        try [false, true].allSatisfy { isASCII in
            let json = value.json(isASCII: isASCII)
            if isASCII, !json.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return false }
            return try JSONReader.read(Value.self, from: json) == value
        }
    }

    @Test("each value of the wire is read as it was written")
    func wire() throws {
        let file = try Self.entry("/Notes/\"Trip\" caf\u{E9} \u{1F600}\u{2028}.md", number: 421)
        var folder = try Self.entry("/Notes", number: 7, isFolder: true)
        folder.hash = "5b1c"
        folder.contents = [file, try Self.entry("/Notes/old.md", number: 8, isDeleted: true)]
        #expect(try Self.comesBack(file))
        #expect(try Self.comesBack(folder))
        #expect(try Self.comesBack(Metadata(.root)))
        let page = DeltaPage(
            reset: true, cursor: "c", hasMore: false,
            entries: [DeltaEntry(key: file.path.key, metadata: file), DeltaEntry(key: folder.path.key, metadata: nil)])
        #expect(try Self.comesBack(page))
        #expect(try Self.comesBack(LongpollResult(changes: true, backoff: 60)))
        #expect(try Self.comesBack(LongpollResult(changes: false)))
        #expect(try Self.comesBack(ChunkedUpload(uploadID: "q3", offset: 5, expires: APIDate(seconds: 0))))
        let account = Account(
            uid: 12345, displayName: "Ann Bell", quotaInfo: .init(quota: 1 << 50, normal: 3, shared: 0),
            extensions: .init(version: 1, conditionalDelete: true))
        #expect(try Self.comesBack(account))
    }

    @Test("metadata are written with the protocol's fields")
    func fields() throws {
        let json = try Self.entry("/Notes/Trip.md", number: 421).json()
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        #expect(object["rev"] as? String == "1a500000001" && object["revision"] as? Int == 421)
        #expect(object["size"] as? String == "411.1 KB" && object["icon"] as? String == "page_white_text")
        #expect(object["modified"] as? String == "Tue, 06 Aug 2013 09:22:01 +0000")
        #expect(object["is_deleted"] == nil && object["hash"] == nil && object["contents"] == nil)
    }

    @Test("control characters, quotes and backslashes come back as they were")
    func escapes() throws {
        let text = String(String.UnicodeScalarView((0...0x7F).compactMap { Unicode.Scalar($0) })) + "\u{FFFF}\u{10FFFF}"
        for isASCII in [false, true] {
            var json = JSONText(isASCII: isASCII)
            json.value(text)
            let found = try JSONDecoder().decode(String.self, from: Data(json.bytes))
            #expect(found.unicodeScalars.elementsEqual(text.unicodeScalars))
        }
    }

    @Test("a refusal names its text, or the parameter at fault, or the state of an upload")
    func refusals() {
        func text(_ error: APIError) -> String { String(decoding: error.json(), as: UTF8.self) }
        #expect(text(APIError(404, "gone")) == #"{"error":"gone"}"#)
        #expect(text(APIError(400, "blank", parameter: "query")) == #"{"error":{"query":"blank"}}"#)
        let upload = ChunkedUpload(uploadID: "q", offset: 4, expires: APIDate(seconds: 0))
        #expect(
            text(APIError(400, "got [8] expected [4]", upload: upload))
                == #"{"upload_id":"q","offset":4,"expires":"Thu, 01 Jan 1970 00:00:00 +0000","error":"got [8] expected [4]"}"#
        )
    }
}
