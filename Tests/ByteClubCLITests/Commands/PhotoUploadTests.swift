import ByteClubCore
import ByteClubMedia
import CLinux
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("Uploads of many photos, without their place and into albums") struct PhotoUploadTests {
    private final class Calls: Sendable {
        private let made = Mutex<[MemoryOperation.Kind]>([])
        var all: [MemoryOperation.Kind] { made.withLock { $0 } }
        func add(_ kind: MemoryOperation.Kind) { made.withLock { $0.append(kind) } }
    }

    @Test("1,000 known photos offered again: no photo is sent, and the server is asked once")
    func known() async throws {
        let world = try World()
        let folder = world.home.path + "/many"
        try LocalFile.makeDirectory(folder)
        let picture = try #require(Picture(width: 8, height: 8, rgb: [UInt8](repeating: 90, count: 192))).jpeg()
        for number in 0..<1000 {
            // Bytes after the end of a picture are part of the file.
            let bytes = picture + Array("\(number)".utf8)
            try LocalFiles.write(bytes, to: "\(folder)/\(number).jpg")
            _ = try await world.server.put(
                .bytes(bytes), at: RemotePath("/byteclub/photos/\(number).jpg"), condition: .create, policy: .fail,
                progress: nil)
        }
        let calls = Calls()
        world.server.fault = { operation throws(RemoteError) in
            if operation.moment == .before { calls.add(operation.kind) }
        }
        #expect(await world.run("photos", "upload", folder) == .success, "\(world.err.prefix(300))")
        #expect(world.out.split(separator: "\n").count == 1000)
        #expect(!calls.all.contains(.put) && calls.all.count <= 2, "\(calls.all)")
    }

    @Test("small photos are on their way together, and are told in the order of the files")
    func together() async throws {
        let world = try World()
        let folder = world.home.path + "/many"
        try LocalFile.makeDirectory(folder)
        let picture = try #require(Picture(width: 8, height: 8, rgb: [UInt8](repeating: 90, count: 192))).jpeg()
        for number in 0..<20 {
            // Two have the same length, and two others the same bytes.
            let (filling, length) = number == 9 ? (8, 8) : (number, number == 5 ? 4 : number)
            let bytes = picture + [UInt8](repeating: UInt8(filling), count: length)
            try LocalFiles.write(bytes, to: "\(folder)/\(number).jpg")
        }
        // The first one is sent alone.
        let several = CallsAtOnce(of: .put, on: world.server, wanted: 2, exceptFor: "0.jpg")
        #expect(await world.run("photos", "upload", folder) == .success, "\(world.err)")
        let told = (0..<20).map { "/byteclub/photos/\($0 == 9 ? 8 : $0).jpg\n" }.joined()
        #expect(world.out == told)
        #expect((2...16).contains(several.most))
        #expect(try await Self.photos(world).count == 19)
        let limited = CallsAtOnce(of: .put, on: world.server, wanted: 1)
        #expect(await world.run("photos", "upload", folder, "--album", "slow", "--limit-rate", "1G") == .success)
        #expect(limited.most == 1)
    }

    @Test("what was sent before its turn is told when the turn does not come")
    func early() async throws {
        let world = try World()
        let folder = world.home.path + "/many"
        try LocalFile.makeDirectory(folder)
        let picture = try #require(Picture(width: 8, height: 8, rgb: [UInt8](repeating: 90, count: 192))).jpeg()
        for number in 0..<9 {
            try LocalFiles.write(picture + [UInt8](repeating: 1, count: number), to: "\(folder)/\(number).jpg")
        }
        let isThere = Mutex(false)
        world.server.fault = { operation throws(RemoteError) in
            guard operation.kind == .put else { return }
            switch (operation.path?.name, operation.moment) {
            case ("2.jpg", .after): isThere.withLock { $0 = true }
            case ("1.jpg", .before):
                while !isThere.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(5)) }
                throw RemoteError(.unreachable, "gone")
            case (let name?, .before) where name >= "3.jpg":
                try? await Task.sleep(for: .seconds(3600))
                throw RemoteError(.cancelled, "cancelled")
            default: break
            }
        }
        #expect(await world.run("photos", "upload", folder) == .tryAgain, "\(world.err)")
        #expect(world.out == "/byteclub/photos/0.jpg\n/byteclub/photos/2.jpg\n")
        #expect(world.err.contains("byteclub: gone; 7 photos were not uploaded\n"), "\(world.err)")
    }

    @Test("when a batch ends early JSON tells what failed and what was not tried, as many as the line for people")
    func endedEarly() async throws {
        let world = try World()
        let folder = world.home.path + "/many"
        try LocalFile.makeDirectory(folder)
        let picture = try #require(Picture(width: 8, height: 8, rgb: [UInt8](repeating: 90, count: 192))).jpeg()
        for number in 0..<6 {
            try LocalFiles.write(picture + [UInt8](repeating: 1, count: number), to: "\(folder)/\(number).jpg")
        }
        try LocalFiles.write(Array("no photo".utf8), to: folder + "/0b.jpg")
        world.server.fault = { operation throws(RemoteError) in
            guard operation.kind == .put, operation.moment == .before, operation.path?.name == "2.jpg" else { return }
            throw RemoteError(.overQuota, "the club's storage is full")
        }
        let status = await world.run(
            "photos", "upload", folder, "--json", "--progress", "json", "--limit-rate", "1G")
        #expect(status == .tryAgain, "\(world.err)")
        let summary = String(world.out.split(separator: "\n").last ?? "")
        #expect(summary.hasPrefix(#"{"event":"summary","failed":2,"present":0,"skipped":3,"time":"2"#), "\(summary)")
        #expect(summary.hasSuffix(#""uploaded":2}"#), "\(summary)")
        #expect(world.err.contains("; 4 photos were not uploaded\n"), "\(world.err)")
        let told = String(world.err.split(separator: "\n").last { $0.contains("summary") } ?? "")
        for part in [#""failed":2"#, #""files":2"#, #""present":0"#, #""skipped":3"#] {
            #expect(told.contains(part), "\(told)")
        }
    }

    @Test("--strip-gps sends the picture and its date without the place, and knows it again")
    func strip() async throws {
        let world = try World()
        let photo = Fixture.path("panoramas/dated.jpg")
        #expect(try PhotoDetails(bytes: Fixture.bytes(at: photo)).place != nil)
        #expect(await world.run("photos", "upload", photo, "--strip-gps") == .success, "\(world.err)")
        let path = try RemotePath("/byteclub/photos/dated.jpg")
        let sent = try await world.server.content(at: path, revision: nil, range: nil, limit: .max)
        let details = try PhotoDetails(bytes: sent.bytes)
        #expect(details.place == nil && details.taken != nil)
        #expect(try Picture(jpeg: sent.bytes) == Picture(jpeg: Fixture.bytes(at: photo)))
        #expect(await world.run("photos", "upload", photo, "--strip-gps") == .success)
        #expect(world.err.contains("already exists") && world.out == "/byteclub/photos/dated.jpg\n", "\(world.err)")
    }

    @Test("--album puts photos into a folder of the photos and makes it")
    func album() async throws {
        let world = try World()
        let photo = Fixture.path("panoramas/city.jpg")
        #expect(await world.run("photos", "upload", photo, "--album", "trip/day 1") == .success, "\(world.err)")
        #expect(world.out == "/byteclub/photos/trip/day 1/city.jpg\n")
        #expect(await world.run("photos", "upload", photo, "--album", "../notes") == .badData)
    }

    private static func append(_ bytes: [UInt8], to file: String) {
        let descriptor = unsafe byteclub_open(file, O_WRONLY | O_APPEND | O_CLOEXEC, 0)
        _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
        close(descriptor)
    }

    private static func photos(_ world: World, _ folder: String = "/byteclub/photos") async throws -> [String] {
        (try await FolderListing().entries(of: RemotePath(folder), world.server) ?? []).map(\.path.name)
    }

    @Test("a photo that another program has open for writing is refused with 75, and sent when it is closed")
    func openForWriting() async throws {
        let world = try World()
        let file = world.home.path + "/held.jpg"
        try LocalFiles.write(Fixture.bytes("panoramas/city.jpg"), to: file)
        var context = world.context()
        context.writerPatience = .zero
        let writer = unsafe byteclub_open(file, O_WRONLY | O_APPEND | O_CLOEXEC, 0)
        for options in [[], ["--quality", "50"]] {
            let status = await ByteClub.run(["photos", "upload", file] + options, in: context)
            #expect(status == .tryAgain && world.err.contains("still being written"), "\(options) \(world.err)")
        }
        #expect(try await Self.photos(world).isEmpty)
        close(writer)
        #expect(await world.run("photos", "upload", file, in: context) == .success, "\(world.err)")
    }

    @Test("a photo without an end is not sent before it was left alone for some seconds")
    func writtenInSteps() async throws {
        let world = try World()
        let file = world.home.path + "/held.jpg"
        try LocalFiles.write(Array(Fixture.bytes("panoramas/city.jpg").dropLast(1000)), to: file)
        try LocalFile.setModified(file, try #require(FileTime(seconds: 1_700_000_000, nanoseconds: 0)))
        var context = world.context()
        context.writerPatience = .zero
        context.now = { 1_700_000_001 }
        #expect(await world.run("photos", "upload", file, in: context) == .tryAgain)
        #expect(try await Self.photos(world).isEmpty)
        context.now = { 1_700_000_009 }
        #expect(await world.run("photos", "upload", file, in: context) == .success)
        #expect(world.err.contains("seems to be truncated"), "\(world.err)")
    }

    @Test("a photo that is written to while it is sent is sent again under its name, and not at all when that goes on")
    func writtenTo() async throws {
        let world = try World()
        let file = world.home.path + "/held.jpg"
        try LocalFiles.write(Fixture.bytes("panoramas/city.jpg"), to: file)
        let writes = Mutex(1)
        world.server.fault = { operation throws(RemoteError) in
            guard operation.kind == .put, operation.moment == .after else { return }
            let isWriting = writes.withLock { left in
                left -= 1
                return left >= 0
            }
            if isWriting { Self.append([1, 2, 3], to: file) }
        }
        #expect(await world.run("photos", "upload", file) == .success, "\(world.err)")
        #expect(world.out == "/byteclub/photos/held.jpg\n")
        let stored = try await world.server.content(
            at: RemotePath("/byteclub/photos/held.jpg"), revision: nil, range: nil, limit: .max)
        #expect(stored.bytes == Fixture.bytes("panoramas/city.jpg") + [1, 2, 3])
        writes.withLock { $0 = .max }
        #expect(await world.run("photos", "upload", file, "--album", "other") == .tryAgain)
        #expect(world.err.contains("changed while it was being sent"), "\(world.err)")
        #expect(try await Self.photos(world, "/byteclub/photos/other").isEmpty)
    }
}
