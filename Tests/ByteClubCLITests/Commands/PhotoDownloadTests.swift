import ByteClubCore
import ByteClubRemotes
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("Downloads of many photos") struct PhotoDownloadTests {
    /// A club with some photos, and a folder for them.
    private func club(_ count: Int) async throws -> (world: World, folder: String) {
        let world = try World()
        for number in 0..<count { try await world.put("photo \(number)", "/byteclub/photos/\(number).jpg") }
        let folder = world.home.path + "/many"
        try LocalFile.makeDirectory(folder)
        return (world, folder)
    }

    @Test("small photos come together and are told in their order, and come one by one where a rate is to be kept")
    func together() async throws {
        let (world, folder) = try await club(20)
        let several = CallsAtOnce(of: .download, on: world.server, wanted: 2)
        #expect(await world.run("photos", "download", "*.jpg", "-o", folder) == .success, "\(world.err)")
        #expect(world.out == (0..<20).map { "\(folder)/\($0).jpg\n" }.joined())
        for number in 0..<20 {
            #expect(try LocalFile.read("\(folder)/\(number).jpg") == Array("photo \(number)".utf8))
        }
        #expect(LocalFile.names(in: folder).count == 20, "nothing else is left")
        #expect((2...16).contains(several.most))
        let limited = CallsAtOnce(of: .download, on: world.server, wanted: 1)
        #expect(
            await world.run("photos", "download", "*.jpg", "-o", folder, "--force", "--limit-rate", "1G") == .success)
        #expect(limited.most == 1)
    }

    @Test("what came before its turn is told when the turn does not come, and one that fails stops no other")
    func early() async throws {
        let (world, folder) = try await club(4)
        try LocalFiles.write(Array("mine".utf8), to: folder + "/2.jpg")
        #expect(await world.run("photos", "download", "*.jpg", "-o", folder) == .tryAgain)
        #expect(world.out == [0, 1, 3].map { "\(folder)/\($0).jpg\n" }.joined())
        #expect(try LocalFile.read(folder + "/2.jpg") == Array("mine".utf8))
        let isThere = Mutex(false)
        world.server.fault = { operation throws(RemoteError) in
            guard operation.kind == .download else { return }
            switch (operation.path?.name, operation.moment) {
            case ("2.jpg", .after): isThere.withLock { $0 = true }
            case ("1.jpg", .before):
                // Until that is in its place, too.
                for _ in 0..<10_000
                where !isThere.withLock({ $0 }) || (try? LocalFile.read(folder + "/2.jpg")) == Array("mine".utf8) {
                    try? await Task.sleep(for: .milliseconds(5))
                }
                throw RemoteError(.unreachable, "gone")
            case ("3.jpg", .before):
                try? await Task.sleep(for: .seconds(3600))
                throw RemoteError(.cancelled, "cancelled")
            default: break
            }
        }
        #expect(await world.run("photos", "download", "*.jpg", "-o", folder, "--force") == .tryAgain, "\(world.err)")
        #expect(world.err.contains("byteclub: gone; 2 photos were not downloaded\n"), "\(world.err)")
        #expect(world.out == "\(folder)/0.jpg\n\(folder)/2.jpg\n")
    }

    @Test("when nothing has come the end is the one reason's, and 75 when something has")
    func endedEarly() async throws {
        let (world, folder) = try await club(3)
        for (first, status) in [("0.jpg", ExitStatus.unavailable), ("1.jpg", .tryAgain)] {
            world.server.fault = { operation throws(RemoteError) in
                guard operation.kind == .download, operation.moment == .before, operation.path?.name == first else {
                    return
                }
                throw RemoteError(.unreachable, "gone")
            }
            let end = await world.run("photos", "download", "*.jpg", "-o", folder, "--limit-rate", "1G")
            #expect(end == status, "\(world.err)")
            #expect(world.err.contains("byteclub: gone; \(first == "0.jpg" ? 3 : 2) photos were not downloaded\n"))
        }
    }

    @Test("an album comes with the folders below it, and once more only what is missing or other")
    func album() async throws {
        let (world, folder) = try await club(1)
        for path in [
            "Trip/a.jpg", "Trip/day 1/a.jpg", "Trip/day 1/b.jpg", "Trip/.x/c.jpg", "Other/d.jpg", "x [1]/e.jpg",
        ] {
            try await world.put(path, "/byteclub/photos/" + path)
        }
        try await world.put("about", "/byteclub/photos/Trip/a.jpg.md")
        let files = ["Trip/a.jpg", "Trip/day 1/a.jpg", "Trip/day 1/b.jpg"]
        let told = files.map { "\(folder)/\($0)\n" }.joined()
        #expect(await world.run("photos", "download", "trip", "-o", folder) == .success, "\(world.err)")
        #expect(world.out == told)
        for file in files { #expect(try LocalFile.read("\(folder)/\(file)") == Array(file.utf8)) }
        #expect(LocalFile.names(in: folder) == ["Trip"] && LocalFile.names(in: folder + "/Trip").count == 2)
        try LocalFile.remove(folder + "/Trip/day 1/b.jpg")
        let calls = CallsAtOnce(of: .download, on: world.server, wanted: 1)
        #expect(await world.run("photos", "download", "Trip/", "-o", folder) == .success, "\(world.err)")
        #expect(world.out == told && world.err.contains("Trip/a.jpg' already exists") && calls.most == 1)
        try LocalFile.replace(folder + "/Trip/a.jpg", with: [1])
        #expect(await world.run("photos", "download", "Trip/*", "-o", folder) == .cannotCreate)
        #expect(try LocalFile.read(folder + "/Trip/a.jpg") == [1])
        // Everything, and an album with a single folder.
        #expect(await world.run("photos", "download", ".", "-o", folder, "--force") == .success, "\(world.err)")
        #expect(world.out.split(separator: "\n").count == 6 && LocalFile.exists(folder + "/Other/d.jpg"))
        #expect(await world.run("photos", "download", "x [1]", "--force", "-o", folder) == .success, "\(world.err)")
        #expect(world.out == folder + "/x [1]/e.jpg\n")
        #expect(await world.run("photos", "download", "Trip/day 1", "Other", "--flat", "-o", folder) == .success)
        #expect(world.out == ["a", "b", "d"].map { "\(folder)/\($0).jpg\n" }.joined())
        #expect(await world.run("photos", "download", "None", "-o", folder) == .noInput)
        #expect(await world.run("photos", "download", "Trip/.x", "-o", folder) == .success, "it was asked for")
        _ = try await world.server.createFolder(RemotePath("/byteclub/photos/Empty"))
        #expect(await world.run("photos", "download", "Empty", "-o", folder) == .noInput)
        #expect(world.err.contains("no photo in 'Empty'"), "\(world.err)")
    }

    @Test("a file where an album's folder should be is told of, and stays")
    func fileInTheWay() async throws {
        let (world, folder) = try await club(0)
        try await world.put("a", "/byteclub/photos/Trip/a.jpg")
        try LocalFile.replace(folder + "/Trip", with: [1])
        #expect(await world.run("photos", "download", "Trip", "-o", folder) == .cannotCreate)
        #expect(world.err.split(separator: "\n").count == 1 && world.err.contains("/Trip'"), "\(world.err)")
        #expect(try LocalFile.read(folder + "/Trip") == [1])
    }

    @Test("of two photos of a name in different albums, the first alone comes into one folder")
    func twoOfAName() async throws {
        let (world, folder) = try await club(1)
        try await world.put("another", "/byteclub/photos/a/0.jpg")
        world.server.fault = { operation throws(RemoteError) in
            guard operation.kind == .download, operation.path?.parent?.name == "photos" else { return }
            // The other one would be there first if it began meanwhile.
            try? await Task.sleep(for: .milliseconds(200))
        }
        let names = ["0.[j]pg", "a/*.jpg"]
        let options = ["--flat", "-o", folder, "--force"]
        #expect(await ByteClub.run(["photos", "download"] + names + options, in: world.context()) == .tryAgain)
        #expect(try LocalFile.read(folder + "/0.jpg") == Array("photo 0".utf8))
        #expect(world.out == "\(folder)/0.jpg\n")
    }
}
