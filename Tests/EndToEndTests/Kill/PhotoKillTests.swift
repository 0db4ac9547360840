import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("kill -9 of an upload") struct PhotoKillTests {
        @Test("the next upload of the same photo goes on, and sends at most one chunk again")
        func kills() async throws {
            var random = SeededGenerator(seed: Sample.seed("photo kills"))
            let folder = try TemporaryDirectory()
            let server = try await ServerProcess(
                data: folder.path + "/data", arguments: ["--metrics-listen", "127.0.0.1:0"])
            defer { server.process?.kill9() }
            let line = await server.process?.line(of: .errors) { $0.contains("health and metrics on ") }
            let metrics = try #require(line?.split(separator: ":").last.flatMap { UInt16($0) })
            let token = try await server.addMember("ann")
            let ann = MemberMachine("ann", in: folder.path)
            let login = try await ann.byteclub(
                "login", server.url, "--token-stdin", input: Array((token + "\n").utf8))
            #expect(login.status == 0, "\(login)")
            let file = ann.home + "/big.jpg"
            let size: Int64 = 48 << 20
            try LocalFiles.writeLarge(
                head: Fixture.bytes("panoramas/city.jpg"), length: Int(size), seed: random.next(), to: file)
            var (kills, offset) = (0, Int64(0))
            while kills < 4 {
                let process = try ann.start(["photos", "upload", file, "--limit-rate", "4M"])
                try await eventually("a chunk is stored") {
                    process.hasEnded || Self.position(ann).map { $0.offset > offset } ?? false
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 0..<200, using: &random)))
                if process.hasEnded { break }
                process.kill9()
                _ = await process.result()
                kills += 1
                // A kill between the commit and its note leaves no position; then nothing more is sent.
                offset = max(offset, Self.position(ann)?.offset ?? size)
            }
            #expect(kills > 0, "the uploads end before they are killed")
            // As somebody would who saw no path printed.
            let result = try await ann.byteclub("photos", "upload", file)
            #expect(result.status == 0 && result.lines == ["/byteclub/photos/big.jpg"], "\(result)")
            let received = try await Self.received(metrics)
            #expect(received <= size + Int64(kills) * (8 << 20) + (1 << 20), "\(received) bytes, \(kills) kills")
            #expect(Self.position(ann) == nil)
            let copy = ann.home + "/copy.jpg"
            #expect(try await ann.byteclub("photos", "download", "big.jpg", "-o", copy).status == 0)
            #expect(Fixture.bytes(at: copy) == Fixture.bytes(at: file))
        }

        /// What the machine remembers of its only upload.
        private static func position(_ machine: MemberMachine) -> UploadPosition? {
            let directory = machine.home + "/state/byteclub/uploads"
            guard let name = FileTree.names(in: directory)?.first(where: { !$0.hasPrefix(".") }) else { return nil }
            return try? JSONReader.read(UploadPosition.self, from: Fixture.bytes(at: directory + "/" + name))
        }

        private static func received(_ port: UInt16) async throws -> Int64 {
            let page = try #require(await RawExchange.send("GET /metrics", port: port)?.text)
            let samples = page.split(separator: "\n").filter { $0.hasPrefix("byteclub_request_body_bytes_total{") }
            return samples.compactMap { $0.split(separator: " ").last.flatMap { Int64($0) } }.reduce(0, +)
        }
    }
}
