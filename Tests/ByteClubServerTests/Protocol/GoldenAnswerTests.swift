import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct GoldenAnswerTests {
    private static let start = APIDate(seconds: 1_375_780_500)
    private static let trip = String(repeating: "Tuesday: rain, and no view at all from the tower.\n", count: 27)

    /// A server whose clock stands on 6 August 2013, with a note and a photo that are revisions 1 to 4.
    private func world(_ body: @escaping @Sendable (TestServer, Clock) async throws -> Void) async throws {
        let clock = Clock(Self.start)
        try await TestServer.run(clock: clock, adjusting: { $0.settings.publicURL = "https://club.example" }) {
            server in
            try await server.store("/Notes/Trip.md", Self.trip)
            clock.advance(60)
            let photo = Fixture.bytes("panoramas/dated.jpg")
            _ = try await server.send("PUT /1/files_put/auto/Photos/Ridge.jpg", body: photo)
            clock.advance(60)
            try await body(server, clock)
        }
    }

    @Test("what is told of files and folders")
    func metadata() async throws {
        try await world { server, _ in
            for (name, target) in [
                ("metadata_file", "metadata/auto/notes/trip.md"), ("metadata_folder", "metadata/auto/Notes"),
                ("metadata_folder_unlisted", "metadata/auto/Notes?list=false"), ("metadata_root", "metadata/auto/"),
                ("metadata_photo", "metadata/auto/Photos/Ridge.jpg?include_media_info=true"),
                ("metadata_revision", "metadata/auto/Notes/Trip.md?rev=200000001"),
                ("search", "search/auto/?query=TRIP"), ("search_nothing", "search/auto?query=none"),
                ("revisions", "revisions/auto/Notes/Trip.md"),
            ] {
                try GoldenAnswer.check(try await server.get("/1/\(target)"), name)
            }
            let file = try await server.get("/1/files/auto/Notes/Trip.md")
            try GoldenAnswer.check(try #require(file["X-Dropbox-Metadata"]), "files_header")
        }
    }

    @Test("what changes answer")
    func changes() async throws {
        try await world { server, clock in
            func post(_ operation: String, _ form: String, _ name: String) async throws {
                try GoldenAnswer.check(try await server.post("/1/\(operation)", form), name)
            }
            try GoldenAnswer.check(
                try await server.put("/1/files_put/auto/Notes/Trip.md?parent_rev=200000001", "Tuesday: sun."),
                "files_put")
            clock.advance(60)
            try GoldenAnswer.check(
                try await server.put("/1/files_put/auto/Notes/Trip.md?parent_rev=200000001", "Tuesday: rain all."),
                "files_put_conflict")
            try GoldenAnswer.check(
                try await server.put("/1/files_put/auto/Notes/Trip.md?overwrite=false", "Tuesday: snow."),
                "files_put_numbered")
            try await post("fileops/create_folder", "root=auto&path=/Plans", "fileops_create_folder")
            try await post("fileops/copy", "from_path=/Notes/Trip.md&to_path=/Plans/Trip.md", "fileops_copy")
            try await post("fileops/move", "from_path=/Plans/Trip.md&to_path=/Plans/Old.md", "fileops_move")
            try await post("fileops/delete", "path=/Notes/Trip.md", "fileops_delete")
            try GoldenAnswer.check(try await server.get("/1/metadata/auto/Notes/Trip.md"), "metadata_deleted")
            try GoldenAnswer.check(
                try await server.get("/1/metadata/auto/Notes?include_deleted=true"), "metadata_folder_with_deleted")
            try GoldenAnswer.check(try await server.get("/1/revisions/auto/Notes/Trip.md"), "revisions_deleted")
            try await post("restore/auto/Notes/Trip.md", "rev=200000001", "restore")
        }
    }

    @Test("what an upload in pieces answers")
    func chunks() async throws {
        try await world { server, _ in
            let begun = try await server.put("/1/chunked_upload", String(repeating: "4", count: 4096))
            try GoldenAnswer.check(begun, "chunked_upload")
            let id = try begun.text("upload_id")
            try GoldenAnswer.check(
                try await server.put("/1/chunked_upload?upload_id=\(id)&offset=8192"), "chunk_offset_error", status: 400
            )
            try GoldenAnswer.check(
                try await server.put("/1/chunked_upload?upload_id=x&offset=1"), "chunk_unknown_error", status: 404)
            let target = "/1/commit_chunked_upload/auto/Photos/Large.bin"
            try GoldenAnswer.check(try await server.post(target, "upload_id=\(id)"), "commit_chunked_upload")
            try GoldenAnswer.check(
                try await server.post(target, "upload_id=\(id)"), "commit_again_error", status: 400)
            try GoldenAnswer.check(
                try await server.post(target, "upload_id=x"), "commit_unknown_error", status: 400)
        }
    }

    @Test("what tells of changes")
    func delta() async throws {
        try await world { server, _ in
            let first = try await server.post("/1/delta")
            try GoldenAnswer.check(first, "delta_first")
            #expect(try await server.post("/1/fileops/delete", "path=/Photos/Ridge.jpg").status == 200)
            try await server.store("/Notes/Plan.md", "Go.")
            let cursor = try first.text("cursor")
            try GoldenAnswer.check(try await server.post("/1/delta", "cursor=\(cursor)"), "delta")
            try GoldenAnswer.check(
                try await server.post("/1/delta", "path_prefix=/notes&include_media_info=true"), "delta_prefix")
            try GoldenAnswer.check(try await server.post("/1/delta/latest_cursor"), "delta_latest_cursor")
            try GoldenAnswer.check(
                try await server.send("GET /1/longpoll_delta?cursor=\(cursor)", []), "longpoll_delta")
            try GoldenAnswer.check(try await server.post("/1/delta", "cursor=x"), "delta_cursor_error", status: 400)
        }
    }

    @Test("what makes links, and what tells the account")
    func links() async throws {
        try await world { server, _ in
            try GoldenAnswer.check(try await server.post("/1/shares/auto/Notes/Trip.md"), "shares")
            try GoldenAnswer.check(try await server.post("/1/media/auto/Photos/Ridge.jpg"), "media")
            try GoldenAnswer.check(try await server.get("/1/copy_ref/auto/Notes/Trip.md"), "copy_ref")
            try GoldenAnswer.check(try await server.get("/1/account/info"), "account_info")
        }
    }

    @Test("what refusals look like")
    func refusals() async throws {
        try await world { server, _ in
            for (name, line, status) in [
                ("error_not_found", "GET /1/metadata/auto/a", 404), ("error_parameter", "GET /1/search/auto", 400),
                ("error_boolean", "GET /1/metadata/auto?list=maybe", 400),
                ("error_root", "GET /1/metadata/sandbox", 400), ("error_path", "GET /1/metadata/auto/a%5Cb", 400),
                ("error_method", "PUT /1/account/info", 405), ("error_operation", "GET /1/previews/auto/a", 404),
                ("error_exists", "POST /1/fileops/create_folder?path=/Notes", 403),
                ("error_limit", "GET /1/metadata/auto?file_limit=1", 406),
                ("error_conflict", "PUT /1/files_put/auto/Notes/Trip.md?overwrite=false&autorename=false", 409),
                ("error_revision", "POST /1/restore/auto/Notes/Trip.md?rev=fff00000001", 404),
                ("error_share_root", "POST /1/shares/auto", 400),
            ] {
                try GoldenAnswer.check(try await server.send(line), name, status: status)
            }
            try GoldenAnswer.check(try await server.send("GET /1/account/info", []), "error_no_token", status: 401)
            try GoldenAnswer.check(
                try await server.send("GET /1/account/info", ["Authorization: Bearer 0"]), "error_bad_token",
                status: 401)
            try GoldenAnswer.check(
                try await server.send("GET /1/files/auto/Notes/Trip.md", [server.bearer, "Range: bytes=9999-"]),
                "error_range", status: 416)
            try GoldenAnswer.check(
                try await server.send("PUT /1/files_put/auto/a.md", length: false), "error_length", status: 411)
        }
    }
}
