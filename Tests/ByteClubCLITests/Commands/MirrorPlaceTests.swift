import ByteClubCore
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI
@testable import ByteClubSync

/// Which mirror a command is about, and which directories may be one.
@Suite struct MirrorPlaceTests {
    private let world: World
    private let home: String

    init() throws {
        world = try World()
        home = world.home.path
    }

    /// A mirror in sync.
    private func mirror(_ name: String) async throws -> String {
        let path = home + "/" + name
        try LocalFile.makeDirectories(path)
        #expect(await world.run("sync", path, "--once") == .success, "\(world.err)")
        return path
    }

    /// Runs a command in a working directory.
    private func run(in directory: String, _ arguments: String...) async -> ByteClubCLI.ExitStatus {
        var context = world.context()
        context.workingDirectory = { directory }
        return await ByteClub.run(arguments, in: context)
    }

    @Test("a command is about the mirror that one is in, or that its path lies in, before the one synced last")
    func whereOneIs() async throws {
        try await world.put("hello", "/byteclub/Trips/a.md")
        let (club, other) = (try await mirror("club"), try await mirror("other"))
        #expect(await world.run("status") == .success && world.out.hasPrefix(other + ": "))
        #expect(await run(in: club, "status") == .success)
        #expect(world.out.contains(club + ": "), "\(world.out)")
        #expect(await run(in: club + "/Trips", "sync", "deselect", ".") == .success, "\(world.err)")
        #expect(world.out.contains("Trips/ is excluded from \(club)"), "\(world.out)")
        #expect(await run(in: home, "sync", "selection", club) == .success && world.out.contains("Trips/"))
        #expect(await run(in: home, "sync", "selection", other) == .success)
        #expect(world.out.hasSuffix("no excluded folders\n"))
        // As the shell completes it.
        #expect(await run(in: home, "why", "club/Trips") == .success, "\(world.err)")
        #expect(await run(in: "/", "why", "Trips/a.md") == .success, "\(world.err)")
    }

    @Test("a mirror in a mirror is refused from either side, and nothing is made")
    func nesting() async throws {
        let club = try await mirror("docs/club")
        #expect(await world.run("sync", club + "/deep/inner", "--once") == .configuration)
        #expect(world.err.contains("is inside the mirror '\(club)'") && world.err.split(separator: "\n").count == 1)
        #expect(!LocalFile.exists(club + "/deep"))
        #expect(await world.run("sync", home + "/docs", "--once") == .configuration)
        #expect(world.err.contains("the mirror '\(club)' is inside '\(home)/docs'"), "\(world.err)")
        #expect(!LocalFile.exists(home + "/docs/.byteclub"))
        #expect(await world.run("sync", club, "--once") == .success)
    }

    @Test("a word that is no directory is not made one", arguments: ["status", "stop", "pausee"])
    func words(_ word: String) async throws {
        #expect(await run(in: home, "sync", word, "--once") == .usage)
        #expect(world.err.contains("no directory '\(word)' here; './\(word)' creates one"), "\(world.err)")
        #expect((word == "status") == world.err.contains("'byteclub status' is a different command"))
        #expect(!LocalFile.exists(home + "/" + word))
        #expect(await run(in: home, "sync", "./" + word, "--once") == .success, "\(world.err)")
        // A mirror of that name is meant by its name.
        #expect(await run(in: home, "sync", word, "--once") == .success, "\(world.err)")
    }

    @Test("a file is refused as a mirror, and a dry run of one that is not there yet makes nothing")
    func fileAndDryRun() async throws {
        try await world.put("hello", "/byteclub/a.md")
        try LocalFile.replace(home + "/file.txt", with: [1])
        #expect(await world.run("sync", home + "/file.txt", "--once") == .cannotCreate)
        #expect(world.err.contains("'\(home)/file.txt' is not a directory"), "\(world.err)")
        #expect(await world.run("sync", home + "/new", "--once", "--dry-run") == .success, "\(world.err)")
        #expect(world.out == "would download a.md\n" && !LocalFile.exists(home + "/new"))
    }

    @Test("a mirror that is moved, and moved back, is the same mirror")
    func moved() async throws {
        let club = try await mirror("club")
        try LocalFile.replace(club + "/a.md", with: Array("one".utf8), mode: 0o644)
        #expect(await world.run("sync", club, "--once") == .success)
        let identity = SyncEngine.marker(in: club)
        for (old, new) in [("club", "moved"), ("moved", "club")] {
            #expect(unsafe rename("\(home)/\(old)", "\(home)/\(new)") == 0)
            #expect(await world.run("sync", "\(home)/\(new)", "--once") == .success, "\(world.err)")
            #expect(world.err.contains("the mirror was moved here from '\(home)/\(old)'"), "\(world.err)")
            #expect(world.out.isEmpty && SyncEngine.marker(in: "\(home)/\(new)") == identity, "\(world.out)")
            #expect(MirrorRegistry(world.context()).mirrors == ["\(home)/\(new)"])
        }
    }

    @Test("a copy of a mirror is a mirror of its own")
    func copied() async throws {
        let club = try await mirror("club")
        let copy = home + "/copy"
        try LocalFile.makeDirectories(copy + "/.byteclub")
        try LocalFile.replace(copy + "/.byteclub/root", with: try LocalFile.read(club + "/.byteclub/root"))
        #expect(await world.run("sync", copy, "--once") == .success, "\(world.err)")
        #expect(!world.err.contains("moved") && SyncEngine.marker(in: copy) != SyncEngine.marker(in: club))
        #expect(MirrorRegistry(world.context()).mirrors == [club, copy])
    }

    @Test("a copy does not take the place of a mirror that is gone, whose newer files stay on the server")
    func copyOfLost() async throws {
        let (club, copy) = (try await mirror("club"), home + "/copy")
        try LocalFile.makeDirectories(copy + "/.byteclub")
        try LocalFile.replace(copy + "/.byteclub/root", with: try LocalFile.read(club + "/.byteclub/root"))
        // A change after the copy was made.
        try LocalFile.replace(club + "/a.md", with: Array("new".utf8), mode: 0o644)
        #expect(await world.run("sync", club, "--once") == .success)
        #expect(unsafe rename(club, home + "/elsewhere") == 0)
        #expect(await world.run("sync", copy, "--once") == .success, "\(world.err)")
        #expect(!world.err.contains("moved") && !world.out.contains("removed"), "\(world.out)")
        #expect(try LocalFile.read(copy + "/a.md") == Array("new".utf8))
        #expect(try await world.text("/byteclub/a.md") == "new")
    }

    @Test("mirrors are listed, and one that is unlinked keeps its files and its trash")
    func unlinked() async throws {
        #expect(await world.run("mirrors") == .success)
        #expect(world.out == "no mirrors; 'byteclub sync DIR' creates one\n")
        let (club, other) = (try await mirror("club"), try await mirror("other"))
        for text in ["one", "two"] {
            try await world.put(text, "/byteclub/a.md")
            #expect(await world.run("sync", club, "--once") == .success)
        }
        #expect(await world.run("mirrors") == .success)
        let lines = world.out.split(separator: "\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("in sync") }, "\(world.out)")
        #expect(await world.run("mirrors", "--json") == .success && world.out.contains(#""folder" : "/byteclub""#))
        #expect(await world.run("unlink", club) == .success, "\(world.err)")
        #expect(world.out.contains("removed and replaced files are still in '\(club)/.byteclub/trash'"))
        #expect(try LocalFile.read(club + "/a.md") == Array("two".utf8))
        #expect(LocalFile.exists(club + "/.byteclub/trash") && SyncEngine.marker(in: club) == nil)
        #expect(await world.run("unlink", club) == .noInput && world.err.contains("is not a mirror"))
        #expect(await world.run("mirrors") == .success && world.out.hasPrefix(other))
        #expect(await world.run("unlink", other) == .success && !LocalFile.exists(other + "/.byteclub"))
        #expect(LocalFile.names(in: world.directories.mirrors).isEmpty)
        // It can be a mirror again.
        #expect(await world.run("sync", club, "--once") == .success, "\(world.err)")
    }

    @Test("a mirror that is being synced is not unlinked")
    func running() async throws {
        let club = try await mirror("club")
        let place = try MirrorPlace(club, world.context())
        let lock = try #require(try MirrorLock(in: place.state))
        #expect(await world.run("unlink", club) == .tryAgain)
        #expect(world.err.contains("a sync of '\(club)' is running (process \(getpid())); stop it"), "\(world.err)")
        #expect(world.err.contains("'kill \(getpid())' first"), "\(world.err)")
        withExtendedLifetime(lock) { #expect(LocalFile.exists(place.configuration.stateDirectory + "/folder")) }
    }

    @Test("a mirror that is being synced is not taken over by another path to it, as through a bind mount")
    func otherPath() async throws {
        let (club, elsewhere) = (try await mirror("club"), home + "/elsewhere")
        let marker = SyncEngine.marker(in: club)
        let lock = try #require(try MirrorLock(in: MirrorPlace(club, world.context()).state))
        #expect(unsafe rename(club, elsewhere) == 0)
        #expect(await world.run("sync", elsewhere, "--once") == .tryAgain)
        #expect(world.err.contains("is the mirror '\(club)' by another path"), "\(world.err)")
        #expect(SyncEngine.marker(in: elsewhere) == marker && !MirrorRegistry(world.context()).holds(elsewhere))
        withExtendedLifetime(lock) {}
    }

    @Test("a directory in whose path a name is not UTF-8 is refused in words that say so")
    func undecodable() async throws {
        // The bytes of the argument are decoded with replacement characters.
        #expect(await world.run("sync", home + "/caf\u{FFFD}/club", "--once") == .noInput)
        #expect(world.err.contains("is not UTF-8"), "\(world.err)")
    }

    @Test("status tells what is left out, and how far the large files of a running sync are")
    func underWay() async throws {
        try await world.put("hello", "/byteclub/Trips/a.md")
        let club = try await mirror("club")
        #expect(await world.run("sync", "deselect", "Trips", "--mirror", club) == .success, "\(world.err)")
        let place = try MirrorPlace(club, world.context())
        let lock = try #require(try MirrorLock(in: place.state))
        let seconds = Seconds()
        var context = world.context()
        context.uptime = { .seconds(seconds.next()) }
        let activity = ActivityFile(place, context)
        for share in 0..<4 {
            activity.take(SyncEvent(.progress, path: "photos/big.jpg", bytes: Int64(share) << 20, total: 100 << 20))
        }
        #expect(await world.run("status", club) == .success)
        #expect(world.out.contains("excluded: Trips/"), "\(world.out)")
        #expect(world.out.contains("transferring: photos/big.jpg, 3% of 100.0 MiB\nrate: "), "\(world.out)")
        activity.take(SyncEvent(.upload, path: "photos/big.jpg", bytes: 100 << 20))
        #expect(await world.run("status", club) == .success && !world.out.contains("transferring"))
        withExtendedLifetime(lock) {}
    }
}

/// A clock that moves a second with each look.
private final class Seconds: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
