import ByteClubCore
import TestSupport
import Testing

/// The server's committed answers as the client reads them; `GoldenAnswerTests` of the server keeps them true.
@Suite struct GoldenAnswerReadingTests {
    private func read<Value: JSONReadable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONReader.read(from: Fixture.bytes("api-v1/\(name).json"))
    }

    @Test("metadata is read with all its fields")
    func metadata() throws {
        let file: Metadata = try read("metadata_file")
        #expect(file.path.string == "/Notes/Trip.md" && file.rev?.number == 2 && file.contentHash != nil)
        #expect(file.clientModified == file.modified && file.mimeType == "text/markdown")
        #expect(file.modifier == Modifier(uid: 1, displayName: "Ann Bell"))
        let folder: Metadata = try read("metadata_folder")
        #expect(folder.isFolder && folder.hash?.count == 32 && folder.contents?.map(\.path) == [file.path])
        let photo: Metadata = try read("metadata_photo")
        #expect(photo.photoInfo?.taken?.description == "2013-08-05T18:40:12+02:00")
        #expect(photo.photoInfo?.place == MediaInfo.Place(latitude: 50.6089, longitude: 6.4381))
        let root: Metadata = try read("metadata_root")
        #expect(root.path.isRoot && root.rev == nil && root.modified == nil)
        #expect(try read("metadata_deleted", as: Metadata.self).isDeleted)
        #expect(try read("files_header", as: Metadata.self) == file)
        for name in ["revisions", "search", "search_nothing", "revisions_deleted"] {
            #expect(try read(name, as: [Metadata].self).allSatisfy { !$0.isFolder })
        }
    }

    @Test("media information that is pending, empty or strange is understood")
    func mediaInfo() throws {
        func info(_ text: String) throws -> MediaInfo { try JSONReader.read(from: Array(text.utf8)) }
        #expect(try info("\"pending\"") == .pending)
        #expect(try info("{}") == MediaInfo())
        #expect(try info(#"{"time_taken":null,"lat_long":null,"more":[1]}"#) == MediaInfo())
        let seoul = try info(#"{"time_taken":"Sat, 21 Jun 2025 15:30:00 +0000","time_offset":32400}"#)
        #expect(seoul.taken?.description == "2025-06-22T00:30:00+09:00")
        for odd in ["null", "50401", "-9223372036854775808"] {
            let info = try info(#"{"time_offset":\#(odd),"time_taken":"Sat, 21 Jun 2025 15:30:00 +0000"}"#)
            #expect(info.taken?.description == "2025-06-21T15:30:00", "\(odd)")
        }
        for (clock, offset) in [(-62_135_596_800, 32_400), (253_402_300_799, -36_000), (Int64.max, 60)] {
            let time = TakenTime(clock: APIDate(seconds: clock), offset: offset)
            #expect(time.offset == nil && time.moment.seconds == clock)
        }
        #expect(try info(#"{"lat_long":[-33.5,1e1]}"#).place == MediaInfo.Place(latitude: -33.5, longitude: 10))
        for wrong in [#"{"lat_long":[1]}"#, #"{"lat_long":[1,"2"]}"#, #"{"lat_long":[1,1e999]}"#, "[]", "1"] {
            #expect(throws: JSONError.self) { try info(wrong) }
        }
    }

    @Test("pages of changes, uploads, long polls and accounts are read")
    func others() throws {
        let first: DeltaPage = try read("delta_first")
        #expect(first.reset && first.entries.count == 4)
        let page: DeltaPage = try read("delta")
        #expect(!page.reset && page.entries.contains { $0.metadata == nil })
        #expect(try read("longpoll_delta", as: LongpollResult.self).changes)
        #expect(try read("longpoll_delta_backoff", as: LongpollResult.self).backoff == 60)
        #expect(try read("chunk_offset_error", as: ChunkedUpload.self) == read("chunked_upload"))
        #expect(try read("account_info", as: Account.self).displayName == "Ann Bell")
    }
}
