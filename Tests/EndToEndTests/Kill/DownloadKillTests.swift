import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Interrupted downloads") struct DownloadKillTests {
        /// Who downloads.
        enum Way: String, CaseIterable, CustomTestStringConvertible {
            case photos, sync

            var testDescription: String { rawValue }
        }

        @Test(
            "a way that breaks after each 3 MB: the file comes at once, and no byte of it twice",
            arguments: Way.allCases)
        func brittle(_ way: Way) async throws {
            let download = try await Download(way)
            download.network.become(.breaking(after: 3_000_000))
            let result = try await download.start().result()
            #expect(result.status == 0, "\(result)")
            download.check(interruptions: 0)
        }

        @Test(
            "kill -9 of the client or the server at any point: the same command goes on from there",
            arguments: Way.allCases)
        func kills(_ way: Way) async throws {
            let download = try await Download(way)
            download.network.become(.slow(bytesPerSecond: 12 << 20))
            let marks = [1, 4, 9, 15, 21].map { $0 << 20 }
            for mark in marks {
                let process = try download.start()
                try await eventually("\(mark) bytes") { download.network.brought >= mark || process.hasEnded }
                try #require(!process.hasEnded, "it has ended before it was killed")
                if mark == marks.last {
                    await download.server.kill9()
                    try await download.server.start()
                    // It goes on by itself, or gives up: both may be.
                    if await process.result().status == 0 { return download.check(interruptions: marks.count) }
                } else {
                    process.kill9()
                    #expect(await process.result().signal == SIGKILL)
                }
            }
            let result = try await download.start().result()
            #expect(result.status == 0, "\(result)")
            download.check(interruptions: marks.count)
        }

        @Test(
            "a download that was interrupted and whose photo is gone leaves nothing of itself", arguments: Way.allCases)
        func gone(_ way: Way) async throws {
            let download = try await Download(way)
            download.network.become(.slow(bytesPerSecond: 12 << 20))
            let process = try download.start()
            try await eventually("some of it") { download.network.brought >= 4 << 20 }
            process.kill9()
            _ = await process.result()
            #expect(!download.left.isEmpty)
            #expect(try await download.bob.byteclub("photos", "rm", "big.jpg").status == 0)
            let result = try await download.start().result()
            #expect(result.status == (way == .sync ? 0 : EX_NOINPUT), "\(result)")
            #expect(download.left.isEmpty, "\(download.left)")
        }
    }
}

/// A large photo of another member, and a way to it that counts bytes.
private struct Download {
    private static let size = 24 << 20
    /// What a kill may cost: a piece, with what was on its way.
    private static let piece = 4 << 20

    let server: ServerProcess
    let network: RoughNetwork
    /// Has put the photo there.
    let bob: MemberMachine
    private let way: EndToEnd.DownloadKillTests.Way
    private let folder: TemporaryDirectory
    private let ann: MemberMachine
    private let file: String

    init(_ way: EndToEnd.DownloadKillTests.Way) async throws {
        self.way = way
        folder = try TemporaryDirectory()
        server = try await ServerProcess(data: folder.path + "/data")
        network = try RoughNetwork(to: server.port)
        (ann, bob) = (MemberMachine("ann", in: folder.path), MemberMachine("bob", in: folder.path))
        for (member, url) in [(ann, network.url), (bob, server.url)] {
            let token = try await server.addMember(member.name)
            let login = try await member.byteclub("login", url, "--token-stdin", input: Array((token + "\n").utf8))
            try #require(login.status == 0, "\(login)")
        }
        file = bob.home + "/big.jpg"
        try LocalFiles.writeLarge(
            head: Fixture.bytes("panoramas/city.jpg"), length: Self.size, seed: Sample.seed("\(way) download"), to: file
        )
        let upload = try await bob.byteclub("photos", "upload", file)
        try #require(upload.status == 0, "\(upload)")
        LocalFiles.makeFolder(ann.home + "/copies")
    }

    private var copy: String { way == .photos ? ann.home + "/copies/big.jpg" : ann.mirror + "/photos/big.jpg" }

    func start() throws -> SpawnedProcess {
        try ann.start(
            way == .photos ? ["photos", "download", "big.jpg", "-o", copy] : ["sync", ann.mirror, "--once"])
    }

    /// What there is of a download beside the photo.
    var left: [String] {
        if way == .sync {
            let control = ann.mirror + "/.byteclub/"
            return ["staging", "trash"].flatMap { FileTree.paths(below: control + $0) }
        }
        let beside = FileTree.names(in: ann.home + "/copies") ?? []
        let noted = FileTree.names(in: ann.home + "/state/byteclub/transfer-files") ?? []
        return beside.filter { $0 != "big.jpg" } + noted
    }

    /// Holds what is there, and the bytes that moved, against what has to be.
    func check(interruptions: Int) {
        #expect(Fixture.bytes(at: copy) == Fixture.bytes(at: file), "the photo is another")
        #expect(left.isEmpty, "\(left)")
        let again = network.brought - Self.size
        #expect(again <= Self.piece * max(1, interruptions), "\(again) bytes came again")
        print("\(way) download of \(Self.size >> 20) MiB, \(interruptions) interruptions: \(again) bytes beside it")
        server.process?.kill9()
    }
}
