import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("Hot spots in the terminal") struct HotSpotShowTests {
    private static let terminal = Terminal(
        isInputTerminal: false, isOutputTerminal: true, isErrorTerminal: true, columns: { 80 }, rows: { 30 },
        cell: { (8, 16) })

    private static let note = """
        The square.

        at 10,-5: [to the hut](hut.jpg)
        at 170,0: [back\u{1B}[2J](../trip.md)
        at -90,0: [](Trip/b%20c.jpg#view=90,0,60)
        at -20,10: [elsewhere](https://example.org/)

        """

    private func world(_ note: String = note) async throws -> World {
        let world = try World()
        #expect(await world.run("photos", "upload", Fixture.path("panoramas/city.jpg")) == .success, "\(world.err)")
        try await world.put(note, "/byteclub/photos/city.jpg.md")
        return world
    }

    @Test("a view has a number at each spot in it, and a line for each below")
    func view() async throws {
        let world = try await world()
        let context = world.context(["COLORTERM": "truecolor"], terminal: Self.terminal)
        #expect(
            await world.run("photos", "show", "city.jpg", "--view", "0,0", "--as", "blocks", in: context) == .success,
            "\(world.err)")
        let lines = world.out.split(separator: "\n")
        #expect(
            lines.suffix(4) == [
                "1  to the hut  hut.jpg",
                "4  elsewhere   https://example.org/",
                "2  back^[[2J   /byteclub/trip.md     behind, at 170,0",
                "3  b c.jpg     Trip/b c.jpg          to the left, at -90,0",
            ])
        let drawn = lines.dropLast(4).joined(separator: "\n")
        #expect(drawn.contains("m 1 ") && drawn.contains("m 4 ") && !drawn.contains("m 2 ") && !drawn.contains("m 3 "))
        #expect(
            await world.run("photos", "show", "city.jpg", "--view", "180,0", "--as", "kitty", in: context) == .success)
        #expect(world.out.contains("\u{1B}_Ga=T") && world.out.contains("2  back^[[2J"))
        try await world.put("The square.\n", "/byteclub/photos/city.jpg.md")
        #expect(
            await world.run("photos", "show", "city.jpg", "--view", "0,0", "--as", "blocks", in: context) == .success)
        #expect(world.out.hasSuffix("\u{1B}[0m\n"))
    }

    @Test("of many spots outside of the view some are listed, and the rest is counted")
    func many() async throws {
        let spots = (0..<60).map { "at 180,\($0 % 60 - 30): [s\($0)](s\($0).jpg)\n" }.joined()
        let world = try await world(spots)
        let context = world.context(terminal: Self.terminal)
        #expect(
            await world.run("photos", "show", "city.jpg", "--view", "0,0,40", "--as", "blocks", in: context)
                == .success)
        #expect(world.out.hasSuffix("\nand 40 more outside of this view\n"), "\(world.out.suffix(300))")
        #expect(world.out.contains("\n20  s19  s19.jpg  behind, at 180,-11\n"))
        #expect(!world.out.contains("\n21  s20"))
    }

    @Test("'info' lists the spots, also as JSON")
    func info() async throws {
        let world = try await world()
        #expect(await world.run("photos", "info", "city.jpg") == .success)
        #expect(world.out.contains("\nspot     10,-5: to the hut (hut.jpg)\n"), "\(world.out)")
        #expect(await world.run("photos", "info", "city.jpg", "--json") == .success)
        #expect(world.out.contains("\"spots\" : ["))
        #expect(world.out.contains("\"path\" : \"/byteclub/photos/Trip/b c.jpg\""), "\(world.out)")
        #expect(!world.out.contains("\u{1B}"))
    }

    @Test("a photo that is not there is named as it was typed, with its album")
    func missing() async throws {
        let world = try await world()
        let context = world.context(terminal: Self.terminal)
        for arguments in [[], ["--view", "0,0"]] {
            let command = ["photos", "show", "photos/city.jpg", "--as", "blocks"] + arguments
            #expect(await ByteClub.run(command, in: context) == .noInput)
        }
        let line = "byteclub: no photo named 'photos/city.jpg'; see 'byteclub photos list'\n"
        #expect(world.err.hasSuffix(line + line), "\(world.err)")
    }
}
