import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct FileOperationsTests {
    @Test("folders are made, moved, copied and deleted, each answered with its metadata")
    func operations() async throws {
        try await TestServer.run { server in
            func post(_ operation: String, _ form: String) async throws -> RawMessage {
                try await server.post("/1/fileops/\(operation)", form)
            }
            let made = try await post("create_folder", "root=auto&path=/Some:Folder/")
            #expect(try made.names() == MetadataTests.folderFields)
            try await server.store("/Some:Folder/a.md")
            let copied = try await post("copy", "root=dropbox&from_path=Some:Folder&to_path=/Copy&locale=en")
            #expect(try copied.names() == MetadataTests.folderFields)
            let moved = try await post("move", "from_path=/Copy/a.md&to_path=/b.md")
            #expect(try moved.names() == MetadataTests.fileFields)
            #expect(try await server.get("/1/metadata/auto/Copy/a.md").decoded(Metadata.self).isDeleted)
            let deleted = try await post("delete", "path=/Copy")
            #expect(try deleted.names() == (MetadataTests.folderFields + ["is_deleted"]).sorted())
        }
    }

    @Test("what cannot be done has the protocol's status")
    func refusals() async throws {
        try await TestServer.run { server in
            try await server.store("/f/a.md")
            try await server.store("/b.md")
            for (target, status) in [
                ("create_folder?path=/f", 403), ("create_folder?path=/b.md", 403), ("create_folder?path=/", 403),
                ("create_folder", 400), ("create_folder?path=/x&root=sandbox", 400),
                ("create_folder?path=/a/../b", 400),
                ("create_folder?path=%00", 400), ("create_folder?path=" + String(repeating: "n", count: 300), 400),
                ("delete?path=/none", 404), ("delete?path=/", 403), ("delete", 400),
                ("move?from_path=/b.md&to_path=/f/a.md", 403), ("move?from_path=/f&to_path=/f/g", 403),
                ("move?from_path=/none&to_path=/x", 404), ("move?from_path=/b.md", 400),
                ("move?from_path=/&to_path=/x", 403),
                ("copy?from_path=/b.md&to_path=/f/a.md", 403), ("copy?to_path=/x", 400),
                ("copy?from_path=/b.md&from_copy_ref=z&to_path=/x", 400), ("copy?from_copy_ref=z&to_path=/x", 404),
            ] {
                let answer = try await server.post("/1/fileops/\(target)")
                #expect(answer.status == status, "\(target): \(answer.text)")
            }
            #expect(try await server.post("/1/fileops/delete", "path=/b.md").status == 200)
            #expect(try await server.post("/1/fileops/delete", "path=/b.md").status == 404)
            #expect(try await server.post("/1/fileops/delete", "path=/b.md").refusal().contains("not found"))
        }
    }

    @Test("a delete that names the version it saw leaves a newer one alone")
    func conditionalDelete() async throws {
        try await TestServer.run { server in
            let old = try #require(try await server.store("/n/a.md", "1").rev)
            let new = try #require(try await server.store("/n/a.md", "2").rev)
            for target in ["path=/n/a.md&parent_rev=\(old)", "path=/n&parent_rev=\(old)"] {
                #expect(try await server.post("/1/fileops/delete", target).status == 409)
            }
            #expect(try await server.post("/1/fileops/delete", "path=/n/a.md&parent_rev=x").status == 400)
            #expect(try await server.get("/1/files/auto/n/a.md").text == "2")
            #expect(try await server.post("/1/fileops/delete", "path=/n&parent_rev=\(new)").status == 200)
        }
    }
}
