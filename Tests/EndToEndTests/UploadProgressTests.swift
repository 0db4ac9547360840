import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The progress of uploads") struct UploadProgressTests {
        /// What all that is no content may take, in bytes: heads, the login, listings.
        private static let heads: Int64 = 256 << 10

        /// What a terminal was shown last, and whether it ever went back.
        private static func percents(_ text: String) -> [Int] {
            text.split(whereSeparator: { $0 == "\r" || $0.isNewline }).compactMap { frame in
                guard frame.contains(" of "), let mark = frame.firstIndex(of: "%") else { return nil }
                return Int(String(frame[..<mark].reversed().prefix { $0.isNumber }.reversed()))
            }
        }

        @Test("a terminal is told the bytes of all photos, which never go back, and a sum in the end")
        func line() async throws {
            let scene = try await Scene()
            let sizes = [300, 2500, 700, 1100, 400, 3000].map { $0 << 10 }
            var files: [String] = []
            for (number, size) in sizes.enumerated() {
                files.append(try scene.photo("a photo with quite a long name, number \(number)", size))
            }
            let session = try scene.ann.startAtTerminal(["photos", "upload"] + files + ["--limit-rate", "3M"])
            let total = Int64(sizes.reduce(0, +))
            try await eventually("a tenth is there") {
                try await scene.counters.received() > total / 10 + Self.heads || session.status != nil
            }
            let before = Self.percents(session.text).count
            try await eventually("the line is drawn again") {
                Self.percents(session.text).count > before || session.status != nil
            }
            #expect(Self.percents(session.text).dropFirst(before).first ?? 1 > 0, "\(session.text)")
            try await eventually("it ends") { session.status != nil }
            let percents = Self.percents(session.text)
            #expect(session.status == 0 && percents.count > 1, "\(session.text)")
            #expect(percents == percents.sorted(), "\(percents)")
            let frames = session.text.split(separator: "\r").filter { $0.contains(" of 7.8 MiB") }
            #expect(frames.contains { $0.contains("/6] ") && $0.contains("/s") && $0.contains("…") }, "\(frames)")
            #expect(frames.allSatisfy { $0.count < 80 }, "\(frames)")
            #expect(session.text.contains("uploaded 6 photos, 7.8 MiB in "), "\(session.text)")
        }

        @Test("Ctrl-C in the middle of a limited upload costs no more than a piece, and the rate is that of now")
        func interrupted() async throws {
            let scene = try await Scene()
            let size = 7 << 20
            let file = try scene.photo("big", size)
            let session = try scene.ann.startAtTerminal(["photos", "upload", file, "--limit-rate", "500K"])
            try await eventually("half of it is there") {
                try await scene.counters.received() > Int64(size / 2) || session.status != nil
            }
            let (status, _) = try await session.interrupt()
            try #require(status == 130, "\(session.text)")
            let again = try scene.ann.startAtTerminal(["photos", "upload", file, "--limit-rate", "4M"])
            try await eventually("it goes on to the end") { again.status != nil }
            #expect(again.status == 0, "\(again.text)")
            #expect(Self.percents(again.text).first ?? 0 >= 40, "\(again.text)")
            #expect(!again.text.contains("GiB/s"), "\(again.text)")
            let resent = try await scene.counters.received() - Int64(size)
            #expect(resent <= 1 << 20 + Self.heads, "\(resent) bytes were sent again")
        }

        @Test("a pause in the background costs no more than a piece")
        func paused() async throws {
            let scene = try await Scene()
            let size = 5 << 20
            let file = try scene.photo("big", size)
            #expect(try await scene.ann.byteclub("transfers", "limit", "500K").status == 0)
            #expect(try await scene.ann.byteclub("photos", "upload", "--background", file).status == 0)
            try await eventually("most of it is there") { try await scene.counters.received() > Int64(size / 2) }
            #expect(try await scene.ann.byteclub("transfers", "pause", "--all").status == 0)
            let list = try await scene.ann.byteclub("transfers", "--json")
            let transfer = try #require(try JSONValue.parse(list.output).elements.first)
            try #require(transfer["state"]?.text == "paused", "\(list)")
            #expect(transfer["bytes"]?.number ?? 0 >= Double(size / 4), "\(list)")
            #expect(try await scene.ann.byteclub("transfers", "resume", "--all").status == 0)
            #expect(try await scene.ann.byteclub("transfers", "wait").status == 0)
            let resent = try await scene.counters.received() - Int64(size)
            #expect(resent <= 1 << 20 + Self.heads, "\(resent) bytes were sent again")
            _ = DaemonProcess(state: scene.ann.home + "/state").kill9()
        }
    }
}

/// A member and a server that counts bytes.
private struct Scene {
    let ann: MemberMachine
    let counters: ByteCounters
    private let folder: TemporaryDirectory
    private let server: ServerProcess

    init() async throws {
        folder = try TemporaryDirectory()
        server = try await ServerProcess(data: folder.path + "/data", arguments: ByteCounters.arguments)
        counters = try await ByteCounters(of: server)
        let token = try await server.addMember("ann")
        ann = MemberMachine("ann", in: folder.path)
        let login = try await ann.byteclub("login", server.url, "--token-stdin", input: Array((token + "\n").utf8))
        try #require(login.status == 0, "\(login)")
    }

    /// A photo of so many bytes.
    func photo(_ name: String, _ bytes: Int) throws -> String {
        let file = ann.home + "/\(name).jpg"
        try LocalFiles.writeLarge(
            head: Fixture.bytes("panoramas/forest.jpg"), length: bytes, seed: Sample.seed(name), to: file)
        return file
    }
}
