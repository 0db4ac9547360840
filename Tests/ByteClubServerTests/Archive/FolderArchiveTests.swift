import ByteClubCore
import ByteClubMedia
import Crypto
import Foundation
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Downloads of shared folders") struct FolderArchiveTests {
    /// Lists an archive as a JSON array of name, length, sum of the bytes, permissions and time, once all is read.
    private static let reader = """
        import hashlib, json, sys, zipfile
        with zipfile.ZipFile(sys.argv[1]) as file:
            assert file.testzip() is None
            json.dump([[i.filename, i.file_size, hashlib.sha256(file.read(i)).hexdigest(), i.external_attr >> 16,
                        list(i.date_time)] for i in file.infolist()], sys.stdout)
        """

    private struct Item: Hashable {
        let name: String
        let bytes: Int
        let sum: String
        let mode: Int
        let date: [Int]
    }

    private static func target(_ answer: RawMessage) throws -> String {
        "/" + (try answer.text("url")).split(separator: "/").dropFirst(2).joined(separator: "/")
    }

    private static func sum(_ bytes: [UInt8]) -> String { Hexadecimal.encode(Array(SHA256.hash(data: bytes))) }

    /// Reads an archive with Python, and checks it with Info-ZIP.
    private static func items(_ archive: [UInt8]) async throws -> [Item] {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.zip"
        try Data(archive).write(to: URL(fileURLWithPath: path))
        let read = try await Program.run("/usr/bin/python3", ["-c", reader, path])
        try #require(read.status == 0, "\(read)")
        if unsafe access("/usr/bin/unzip", X_OK) == 0 {
            let checked = try await Program.run("/usr/bin/unzip", ["-tq", path])
            #expect(checked.status == 0, "\(checked)")
        }
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(read.text.utf8)) as? [[Any]])
        return try rows.map { row in
            Item(
                name: try #require(row[0] as? String), bytes: try #require(row[1] as? Int),
                sum: try #require(row[2] as? String), mode: try #require(row[3] as? Int),
                date: try #require(row[4] as? [Int]))
        }
    }

    /// The bytes of an answer; nil for one that was cut off.
    private static func whole(_ answer: RawMessage) -> [UInt8]? {
        if let length = answer["Content-Length"] { return answer.body.count == Int(length) ? answer.body : nil }
        guard answer["Transfer-Encoding"] == "chunked" else { return nil }
        var (body, rest) = ([UInt8](), answer.body[...])
        while let end = rest.firstIndex(of: 13) {
            guard let count = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16) else { return nil }
            rest = rest[(end + 2)...]
            if count == 0 { return body }
            guard rest.count >= count + 2 else { return nil }
            body += rest.prefix(count)
            rest = rest.dropFirst(count + 2)
        }
        return nil
    }

    private static func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255) } }

    private static func put(_ path: String, _ bytes: [UInt8], _ server: TestServer) async throws {
        let path = path.split(separator: "/").map { "/" + PercentEncoding.encode(String($0)) }.joined()
        #expect(try await server.send("PUT /1/files_put/auto\(path)", body: bytes).status == 200, "\(path)")
    }

    @Test("a shared folder comes whole: small files, large ones, empty ones and folders, and nothing above it")
    func folder() async throws {
        try await TestServer.run { server in
            let (large, larger) = (Self.random(300_000), Self.random(1_500_000))
            try await Self.put("/secret.md", Array("hidden".utf8), server)
            try await Self.put("/Trip/a.md", Array("one".utf8), server)
            try await Self.put("/Trip/none", [], server)
            try await Self.put("/Trip/日本/large.bin", large, server)
            try await Self.put("/Trip/日本/larger.bin", larger, server)
            #expect(try await server.post("/1/fileops/create_folder", "path=/Trip/empty").status == 200)
            for terms in ["location=remove", "location=keep"] {
                let target = try Self.target(try await server.post("/1/shares/auto/Trip", terms))
                let answer = try await server.send("GET \(target)?dl=1", [])
                #expect(answer.status == 200 && answer["Content-Type"] == "application/zip")
                #expect(answer["Content-Disposition"] == "attachment; filename*=UTF-8''Trip.zip")
                #expect((answer["Content-Length"] != nil) == (terms == "location=keep"), "\(terms)")
                let items = try await Self.items(try #require(Self.whole(answer)))
                #expect(
                    items.map(\.name) == [
                        "Trip/", "Trip/a.md", "Trip/empty/", "Trip/none", "Trip/日本/", "Trip/日本/large.bin",
                        "Trip/日本/larger.bin",
                    ])
                #expect(items.map(\.bytes) == [0, 3, 0, 0, 0, large.count, larger.count])
                #expect(items[5].sum == Self.sum(large) && items[6].sum == Self.sum(larger))
                #expect(items[0].mode == 0o40755 && items[1].mode == 0o100644)
                let head = try await server.send("HEAD \(target)?dl=1", [])
                #expect(head.status == (terms == "location=keep" ? 200 : 405))
                if head.status == 200 {
                    #expect(head.body.isEmpty && head["Content-Length"] == answer["Content-Length"])
                }
                let below = try await server.send("GET \(target)/%E6%97%A5%E6%9C%AC?dl=1", [])
                #expect(
                    try await Self.items(try #require(Self.whole(below))).map(\.name) == [
                        "日本/", "日本/large.bin", "日本/larger.bin",
                    ])
                for outside in ["/../secret.md?dl=1", "/..?dl=1", "/none/below?dl=1"] {
                    #expect(try await server.send("GET \(target)\(outside)", []).status == 404, "\(outside)")
                }
            }
            try await eventually("all is given back") { server.club.shares.archives.used == 0 }
        }
    }

    @Test("photos in a download tell no place, films are named as left out, and both are there where places are kept")
    func places() async throws {
        try await TestServer.run { server in
            let photo = Fixture.bytes("panoramas/dated.jpg")
            try await Self.put("/Trip/ridge.jpg", photo, server)
            try await Self.put("/Trip/film.mov", Array("film".utf8), server)
            try await Self.put("/Trip/Not included.txt", Array("mine".utf8), server)
            let target = try Self.target(try await server.post("/1/shares/auto/Trip"))
            let bare = try #require(Self.whole(try await server.send("GET \(target)?dl=1", [])))
            let names = try await Self.items(bare).map(\.name)
            #expect(
                names == ["Trip/", "Trip/not included.txt", "Trip/ridge.jpg", "Trip/Not included (1).txt"]
                    || names == ["Trip/", "Trip/Not included.txt", "Trip/ridge.jpg", "Trip/Not included (1).txt"])
            let given = try #require(Self.whole(try await server.send("GET \(target)/ridge.jpg?dl=1", [])))
            #expect(try PhotoDetails(bytes: given).place == nil)
            #expect(try await Self.items(bare)[2].sum == Self.sum(given), "as a single download gives it")
            #expect(String(decoding: bare, as: UTF8.self).contains("Trip/film.mov\n"))
            _ = try await server.post("/1/shares/auto/Trip", "location=keep")
            let kept = try await Self.items(
                try #require(Self.whole(try await server.send("GET \(target)?dl=1", []))))
            #expect(kept.count == 4 && kept.contains { $0.sum == Self.sum(photo) })
        }
    }

    @Test("no name in an archive leads out of its folder, on any system")
    func names() async throws {
        try await TestServer.run { server in
            for name in ["C:evil", "C_evil", "..:x", "a:b:c", "-rf", "\u{202E}gpj.exe"] {
                let metadata = try await server.send(
                    "PUT /1/files_put/auto/h/\(PercentEncoding.encode(name))", body: Array(name.utf8))
                #expect([200, 400].contains(metadata.status), "\(name)")
            }
            let target = try Self.target(try await server.post("/1/shares/auto/h"))
            let items = try await Self.items(try #require(Self.whole(try await server.send("GET \(target)?dl=1", []))))
            #expect(items.count > 3 && Set(items.map { $0.name.lowercased() }).count == items.count)
            for item in items {
                #expect(item.name.hasPrefix("h/") && !item.name.contains { "\\:\t".contains($0) }, "\(item.name)")
                #expect(!item.name.split(separator: "/").contains(".."), "\(item.name)")
            }
        }
    }

    @Test("thousands of small files come in one archive")
    func many() async throws {
        try await TestServer.run { server in
            let uid = server.member.uid
            _ = try await server.store.write(by: uid, storing: []) { folder in
                for number in 0..<5000 {
                    _ = try folder.createFolder(try RemotePath("/many/\(number % 7)/\(number)"))
                }
            }
            let target = try Self.target(try await server.post("/1/shares/auto/many"))
            let items = try await Self.items(try #require(Self.whole(try await server.send("GET \(target)?dl=1", []))))
            #expect(items.count == 5008 && items.allSatisfy { $0.name.hasPrefix("many/") && $0.name.hasSuffix("/") })
        }
    }

    @Test("a content that is lost, or is not what it was, cuts the download off, and it never looks whole")
    func damage() async throws {
        try await TestServer.run { server in
            let bytes = Self.random(400_000)
            try await Self.put("/Trip/a.bin", bytes, server)
            try await Self.put("/Trip/b.md", Array("after".utf8), server)
            let target = try Self.target(try await server.post("/1/shares/auto/Trip"))
            let hash = ContentHasher.hash(bytes).description
            let path = "\(server.directory)/blobs/\(hash.prefix(2))/\(hash.dropFirst(2))"
            #expect(unsafe truncate(path, 200_000) == 0)
            let short = try await server.send("GET \(target)?dl=1", [])
            #expect(Self.whole(short) == nil)
            #expect(unsafe unlink(path) == 0)
            let lost = try await server.send("GET \(target)?dl=1", [])
            #expect(Self.whole(lost) == nil || lost.status >= 500)
            try await eventually("all is given back") { server.club.shares.archives.used == 0 }
        }
    }

    @Test("who hangs up, or whose link is taken back, frees all that a download holds")
    func hangUp() async throws {
        try await TestServer.run { server in
            for number in 0..<12 { try await Self.put("/Trip/\(number).bin", Self.random(4_000_000), server) }
            let target = try Self.target(try await server.post("/1/shares/auto/Trip"))
            let request = Array("GET \(target)?dl=1 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            await BackgroundThread.run {
                guard let connection = RawConnection(port: server.port) else { return }
                connection.send(request)
                _ = connection.receive(atMost: 1 << 16)
            }
            try await eventually("what a lost client held is free") { server.club.shares.archives.used == 0 }
            // A third of those who download folders at the same time has a share; the fourth is told to come back.
            let held = (0..<3).compactMap { _ in
                try? server.club.shares.archives.take(for: .stranger(IPAddress("127.0.0.1")?.network))
            }
            #expect(held.count == 3)
            let busy = try await server.send("GET \(target)?dl=1", [])
            #expect(busy.status == 429 && busy["Retry-After"] != nil)
            withExtendedLifetime(held) {}
        }
    }
}
