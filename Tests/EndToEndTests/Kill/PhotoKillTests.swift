import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("kill -9 of an upload") struct PhotoKillTests {
        /// Who uploads: `photos upload` or a sync, both in Core API v1's chunks.
        enum Way: String, CaseIterable, CustomTestStringConvertible {
            case photos, sync

            var testDescription: String { rawValue }
        }

        @Test("at any point of it: the same command sends at most one chunk again", arguments: Way.allCases)
        func kills(_ way: Way) async throws {
            var random = SeededGenerator(seed: Sample.seed("\(way) upload kills"))
            let size = Int64(Settings.uploadMebibytes) << 20
            let usual = try await Upload(way, size: size, seed: random.next()).seconds()
            var (kills, rounds, again) = (0, 0, [Int64]())
            while kills < Settings.uploadKills {
                rounds += 1
                try #require(rounds < Settings.uploadKills * 5, "most uploads end before they are killed")
                let upload = try await Upload(way, size: size, seed: random.next())
                guard try await upload.kill(after: .random(in: 0..<usual, using: &random)) else { continue }
                kills += 1
                let (resent, most) = try await upload.resume()
                #expect(resent <= most, "kill \(kills): \(resent) bytes were sent again, a chunk has \(most)")
                again.append(resent)
            }
            let sum = again.reduce(0, +)
            print(
                "\(way) upload of \(size >> 20) MiB, \(usual) s: \(kills) kills in \(rounds) uploads; sent again: most "
                    + "\(again.max() ?? 0) bytes, mean \(sum / Int64(max(1, kills))), none at "
                    + "\(again.count { $0 < Upload.heads }) kills")
        }
    }
}

/// One large file on its way to a server of its own.
private struct Upload {
    /// What all that is no content may take, in bytes: heads, the login, listings.
    static let heads: Int64 = 256 << 10
    /// The first chunk in bytes; each may be twice as long as the one before, up to the largest.
    private static let (firstChunk, largestChunk): (Int64, Int64) = (1 << 20, 64 << 20)

    private let way: EndToEnd.PhotoKillTests.Way
    private let folder: TemporaryDirectory
    private let server: ServerProcess
    private let counters: ByteCounters
    private let ann: MemberMachine
    private let file: String
    private let size: Int64

    init(_ way: EndToEnd.PhotoKillTests.Way, size: Int64, seed: UInt64) async throws {
        self.way = way
        self.size = size
        folder = try TemporaryDirectory()
        server = try await ServerProcess(data: folder.path + "/data", arguments: ByteCounters.arguments)
        counters = try await ByteCounters(of: server)
        let token = try await server.addMember("ann")
        ann = MemberMachine("ann", in: folder.path)
        let login = try await ann.byteclub("login", server.url, "--token-stdin", input: Array((token + "\n").utf8))
        try #require(login.status == 0, "\(login)")
        file = way == .photos ? ann.home + "/big.jpg" : ann.mirror + "/photos/big.jpg"
        LocalFiles.makeFolder(ann.mirror + "/photos")
        try LocalFiles.writeLarge(
            head: Fixture.bytes("panoramas/city.jpg"), length: Int(size), seed: seed, to: file)
    }

    private var command: [String] {
        way == .photos ? ["photos", "upload", file] : ["sync", ann.mirror, "--once"]
    }

    /// How long an upload takes that nobody kills.
    func seconds() async throws -> Double {
        let result = try await ann.start(command).result()
        #expect(result.status == 0, "\(result)")
        return result.seconds
    }

    /// Kills an upload some seconds after its start; false when it has ended before.
    func kill(after seconds: Double) async throws -> Bool {
        let process = try ann.start(command)
        try await Task.sleep(for: .seconds(seconds))
        let isLate = process.hasEnded
        process.kill9()
        let result = await process.result()
        return !isLate && result.signal == SIGKILL
    }

    /// Uploads to the end and looks at what is there.
    ///
    /// - Returns: How many bytes of the content were sent more than once, and how many that may be.
    func resume() async throws -> (resent: Int64, most: Int64) {
        // A chunk has at most as many bytes as those before it, and those of a first one. The position of a sync is
        // not known here, so it may be the one with the largest last chunk.
        let before = way == .photos ? position ?? 0 : (size - Self.firstChunk) / 2
        let most = min(Self.largestChunk, before + Self.firstChunk, size - before)
        let result = try await ann.start(command).result()
        #expect(result.status == 0, "\(result)")
        if way == .photos { #expect(result.lines == ["/byteclub/photos/big.jpg"] && position == nil, "\(result)") }
        let received = try await counters.received()
        let copy = ann.home + "/copy.jpg"
        #expect(try await ann.byteclub("photos", "download", "big.jpg", "-o", copy).status == 0)
        #expect(Fixture.bytes(at: copy) == Fixture.bytes(at: file))
        server.process?.kill9()
        return (max(0, received - size), most + Self.heads)
    }

    /// What the machine remembers of its only upload.
    private var position: Int64? {
        let directory = ann.home + "/state/byteclub/uploads"
        guard let name = FileTree.names(in: directory)?.first(where: { !$0.hasPrefix(".") }) else { return nil }
        let position = try? JSONReader.read(UploadPosition.self, from: Fixture.bytes(at: directory + "/" + name))
        return position?.offset
    }
}
