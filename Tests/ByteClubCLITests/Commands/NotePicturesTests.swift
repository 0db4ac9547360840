import ByteClubCore
import ByteClubMedia
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("Notes with photos in the terminal") struct NotePicturesTests {
    private static let terminal = Terminal(
        isInputTerminal: false, isOutputTerminal: true, isErrorTerminal: true, columns: { 80 }, rows: { 30 },
        cell: { (8, 16) })
    private static let text = """
        # The trip

        We went up.
        ![The ridge](photos/city.jpg)
        And *down*, past ![](photos/portrait.jpg) there.
        ![gone](photos/gone.jpg)

        """

    private let world: World
    private let server = MemoryRemote(thumbnailer: { bytes, size, _ in
        guard let picture = try? Picture(jpeg: bytes) else { return nil }
        let scale = min(
            1, Double(size.width) / Double(picture.width), Double(size.height) / Double(picture.height))
        let (width, height) = (Int(Double(picture.width) * scale), Int(Double(picture.height) * scale))
        return try? picture.fitted(width: width, height: height).jpeg()
    })

    init() throws { world = try World() }

    private func put(_ bytes: [UInt8], _ path: String) async throws {
        _ = try await server.put(
            .bytes(bytes), at: RemotePath(path), condition: .overwrite, policy: .fail, progress: nil)
    }

    private func fill(_ text: String = text) async throws {
        for name in ["city.jpg", "portrait.jpg"] {
            try await put(Fixture.bytes("panoramas/" + name), "/byteclub/photos/" + name)
        }
        try await put(Array("not a photo".utf8), "/byteclub/photos/broken.jpg")
        try await put(Array(text.utf8), "/byteclub/trip.md")
    }

    private func context(_ more: [String: String] = [:], terminal: Terminal = terminal) -> Context {
        world.context(["COLORTERM": "truecolor"].merging(more) { $1 }, terminal: terminal, remote: server)
    }

    /// The lines without colours, in which a drawn line is one of half blocks.
    private var lines: [String] {
        world.out.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: "\u{1B}[", omittingEmptySubsequences: false).enumerated()
                .map { index, part in index == 0 ? part : part.drop { $0 != "m" }.dropFirst() }.joined()
        }
    }

    private static func isDrawn(_ line: String) -> Bool {
        !line.isEmpty && line.allSatisfy { $0 == " " || $0 == "\u{2580}" }
    }

    @Test("photos are drawn in their places with captions, a panorama as a strip, each in a third of the screen")
    func drawn() async throws {
        try await fill()
        #expect(await world.run("notes", "show", "trip.md", in: context()) == .success, "\(world.err)")
        #expect(world.out.hasPrefix("\u{1B}[1m# The trip\u{1B}[0m\n\nWe went up.\n\u{1B}["))
        let runs = lines.split(whereSeparator: { !Self.isDrawn($0) })
        #expect(runs.map(\.count) == [10, 10] && runs.first?.first?.count == 80, "\(runs.map(\.count))")
        #expect(
            lines.filter { !Self.isDrawn($0) } == [
                "# The trip", "", "We went up.", "The ridge", "And *down*, past ![](photos/portrait.jpg) there.",
                "portrait.jpg", "![gone](photos/gone.jpg)", "  (there is no photo 'photos/gone.jpg')", "",
            ])
        #expect(world.err.isEmpty && world.connections.count == 1, "\(world.err)")
    }

    @Test(
        "each way of drawing shows a note's photos", arguments: [("kitty", "\u{1B}_Ga=T"), ("iterm", "\u{1B}]1337;")])
    func ways(_ way: String, _ start: String) async throws {
        try await fill()
        #expect(await world.run("notes", "show", "trip.md", "--as", way, in: context()) == .success)
        #expect(world.out.ranges(of: start).count == 2, "\(world.err)")
        #expect(world.out.contains("The ridge\n") && !world.out.contains("![The ridge]"))
    }

    @Test("in a pipe, without colour, with --as none and with -o it is the text, and nothing is requested for it")
    func plain() async throws {
        try await fill()
        server.fault = { operation throws(RemoteError) in
            if operation.kind == .thumbnail { throw RemoteError(.serverFault, "asked") }
        }
        #expect(await world.run("notes", "show", "trip.md", in: context(terminal: .none)) == .success)
        #expect(world.out == Self.text)
        for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
            #expect(await world.run("notes", "show", "trip.md", in: context(environment)) == .success)
            #expect(world.out == Self.text)
        }
        #expect(await world.run("notes", "show", "trip.md", "--as", "none", in: context()) == .success)
        #expect(world.out == Self.text.replacing("# The trip", with: "\u{1B}[1m# The trip\u{1B}[0m"))
        #expect(await world.run("notes", "show", "trip.md", "--as", "none", in: context(terminal: .none)) == .success)
        #expect(world.out == Self.text)
        let copy = world.home.path + "/copy.md"
        #expect(await world.run("notes", "show", "trip.md", "-o", copy, in: context()) == .success)
        #expect(await world.run("notes", "show", "trip.md", "-o", copy, "--as", "kitty", in: context()) == .usage)
        #expect(world.err.contains("--as cannot be combined with -o"))
    }

    @Test("what is no photo of the club stays a line with the reason, and its name drives nothing")
    func refused() async throws {
        try await put(Array("not a photo".utf8), "/byteclub/photos/\u{9B}1m.jpg")
        try await fill("![a](photos/broken.jpg)\n![b](../../x.jpg)\n![c](photos)\n![d](photos/%C2%9B1m.jpg)\nend")
        #expect(await world.run("notes", "show", "trip.md", in: context()) == .success, "\(world.err)")
        #expect(
            world.out == """
                ![a](photos/broken.jpg)
                  ('broken.jpg' is not a photo that the server can read)
                ![b](../../x.jpg)
                  ('../../x.jpg' is no photo of the club)
                ![c](photos)
                  ('photos' is a folder, not a photo)
                ![d](photos/%C2%9B1m.jpg)
                  ('<U+009B>1m.jpg' is not a photo that the server can read)
                end
                """)
    }

    @Test("photos beyond the limit stay lines and are counted")
    func limit() async throws {
        let count = ShownNote.mostPhotos + 12
        try await fill(String(repeating: "![p](photos/portrait.jpg)\n", count: count))
        let asked = Mutex(0)
        server.fault = { operation throws(RemoteError) in
            if operation.kind == .thumbnail, operation.moment == .before { asked.withLock { $0 += 1 } }
        }
        #expect(await world.run("notes", "show", "trip.md", in: context()) == .success)
        #expect(asked.withLock { $0 } == ShownNote.mostPhotos)
        #expect(lines.filter { $0 == "p" }.count == ShownNote.mostPhotos)
        #expect(lines.filter { $0 == "![p](photos/portrait.jpg)" }.count == 12)
        #expect(world.err == "byteclub: and 12 more photos, which stay text\n")
    }

    @Test("a server that fails between the photos leaves the rest as text, and is an error")
    func failure() async throws {
        try await fill()
        server.fault = { operation throws(RemoteError) in
            if operation.kind == .thumbnail, operation.path?.name == "portrait.jpg" {
                throw RemoteError(.unreachable, "cannot connect")
            }
        }
        #expect(await world.run("notes", "show", "trip.md", in: context()) == .unavailable)
        #expect(world.out.hasSuffix("past ![](photos/portrait.jpg) there.\n![gone](photos/gone.jpg)\n"))
        #expect(lines.contains("The ridge") && world.err == "byteclub: cannot connect\n")
    }

    @Test("Ctrl-C while a photo is requested ends it at once, with nothing more written")
    func cancelled() async throws {
        try await fill()
        let press = Press()
        server.fault = { operation throws(RemoteError) in
            guard operation.kind == .thumbnail, operation.moment == .before else { return }
            press.now(.interrupted)
            try? await Task.sleep(for: .seconds(60))
            throw RemoteError(.cancelled, "cancelled")
        }
        var context = context()
        context.interrupts = press.interrupts
        #expect(await world.run("notes", "show", "trip.md", in: context) == .interrupted)
        #expect(world.out == "\u{1B}[1m# The trip\u{1B}[0m\n\nWe went up.\n" && world.err == "byteclub: cancelled\n")
    }

    @Test("a heading that a terminal would obey is not bold, and is spelled out")
    func hostileHeading() async throws {
        try await fill("# a\u{1B}[2Jb\n## c\r\n")
        #expect(await world.run("notes", "show", "trip.md", in: context()) == .success)
        #expect(world.out == "# a^[[2Jb\n\u{1B}[1m## c\u{1B}[0m\r\n" && world.err.contains("made visible"))
    }
}
