import ByteClubCore
import ByteClubMedia
import ByteClubRemotes
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
            // What follows the end of a picture belongs to the file.
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
        #expect(world.err.contains("already there") && world.out == "/byteclub/photos/dated.jpg\n", "\(world.err)")
    }

    @Test("--album puts photos into a folder of the photos and makes it")
    func album() async throws {
        let world = try World()
        let photo = Fixture.path("panoramas/city.jpg")
        #expect(await world.run("photos", "upload", photo, "--album", "trip/day 1") == .success, "\(world.err)")
        #expect(world.out == "/byteclub/photos/trip/day 1/city.jpg\n")
        #expect(await world.run("photos", "upload", photo, "--album", "../notes") == .badData)
    }
}
