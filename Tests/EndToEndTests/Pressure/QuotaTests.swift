import ByteClubCore
import Glibc
import HTTPTypes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Quotas of a real server") struct QuotaTests {
        private static func chunk(_ number: Int) -> [UInt8] { noise(100_000, seed: UInt64(number)) }

        /// Sends parts of one upload until one is refused, or far too many are not, and tells how many bytes were
        /// taken.
        private static func fill(_ api: ClubAPI) async throws -> Int {
            var (taken, target) = (0, "/1/chunked_upload")
            while taken < 2_000_000 {
                let answer = try await api.send(.put, target, body: chunk(taken))
                if answer.status == 507 { return taken }
                #expect(answer.status == 200, "\(answer)")
                let state = try answer.decode(ChunkedUpload.self)
                taken = Int(state.offset)
                target = "/1/chunked_upload?upload_id=\(state.uploadID)&offset=\(taken)"
            }
            return taken
        }

        @Test("a server that is killed while uploads arrive neither forgets what is reserved nor reserves what is gone")
        func killed() async throws {
            let folder = try TemporaryDirectory()
            let server = try await ServerProcess(
                data: folder.path + "/data", arguments: ["--member-quota", "1000000"])
            let api = try ClubAPI(server: server, token: try await server.addMember("ann"))
            #expect(try await api.put(noise(250_000), "/byteclub/kept").status == 200)
            let part = try await api.send(.put, "/1/chunked_upload", body: Self.chunk(1))
            #expect(part.status == 200)
            let bytes = Self.chunk(2)
            let hash = ContentHasher.hash(bytes)
            #expect(try await api.send(.put, "/1/sync/chunks/\(hash)", body: bytes).status == 204)
            let upload = try part.decode(ChunkedUpload.self).uploadID
            let head =
                "PUT /1/chunked_upload?upload_id=\(upload)&offset=100000 HTTP/1.1\r\nHost: x\r\n"
                + "Authorization: Bearer \(api.token)\r\nContent-Length: 500000\r\n\r\n"
            let port = server.port
            let isSent = await BackgroundThread.run { () -> Bool in
                guard let connection = RawConnection(port: port) else { return false }
                return connection.send(Array(head.utf8) + noise(400_000))
            }
            #expect(isSent)
            await server.kill9()
            await api.close()
            try await server.start()
            let again = try ClubAPI(server: server, token: api.token)
            // 250 KB are stored, 100 KB are in the upload and 100 KB in the chunk: 500 KB fit in parts of 100 KB.
            #expect(try await Self.fill(again) == 500_000)
            await server.stop()
            let verified = try await Program.run("byteclub-server", ["verify", "--data", server.data])
            #expect(verified.status == 0, "\(verified)")
        }

        @Test("a mirror that makes more folders than a club may have tells it, and goes on when there is room")
        func entries() async throws {
            let folder = try TemporaryDirectory()
            let server = try await ServerProcess(data: folder.path + "/data", arguments: ["--entries", "8"])
            let api = try ClubAPI(server: server, token: try await server.addMember("warden"))
            for number in 0..<6 {
                let target = "/1/fileops/create_folder?root=auto&path=/byteclub/old\(number)"
                #expect(try await api.send(.post, target).status == 200)
            }
            let ann = MemberMachine("ann", in: folder.path)
            let token = try await server.addMember("ann")
            let login = try await ann.byteclub(
                "login", server.url, "--token-stdin", input: Array((token + "\n").utf8))
            try #require(login.status == 0, "\(login)")
            try await expectSynced(ann)
            for number in 0..<4 { unsafe mkdir(ann.mirror + "/new\(number)", 0o700) }
            let refused = try await ann.sync()
            #expect(
                refused.status == 75 && (refused.text + refused.errorText).contains("files and folders"), "\(refused)")
            for number in 0..<4 {
                let target = "/1/fileops/delete?root=auto&path=/byteclub/old\(number)"
                #expect(try await api.send(.post, target).status == 200)
            }
            try await expectSynced(ann)
            let names = try await api.tree("/byteclub").keys.sorted()
            #expect(names.count == 7 && names.contains("/byteclub/new3"), "\(names)")
        }
    }
}
