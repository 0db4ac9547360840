import ByteClubCore
import FoundationEssentials
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("Results on a terminal") struct ScreenTests {
    private static let terminal = Terminal(
        isInputTerminal: false, isOutputTerminal: true, isErrorTerminal: true, columns: { 80 })
    private static let text = "\u{1B}]0;title\u{7}one\r\n\u{1B}[1A\u{1B}[2Ktwo\u{202E}eerht\u{9B}8m\n"

    @Test("a note drives the terminal nowhere, says so once, and is byte for byte what it is in a pipe")
    func note() async throws {
        let world = try World()
        try await world.put(Self.text, "/byteclub/trip.md")
        #expect(await world.run("notes", "show", "trip.md", in: world.context(terminal: Self.terminal)) == .success)
        #expect(world.out == "^[]0;title^Gone\r\n^[[1A^[[2Ktwo<U+202E>eerht<U+009B>8m\n")
        #expect(world.err.hasPrefix("byteclub: ") && world.err.split(separator: "\n").count == 1)
        #expect(await world.run("notes", "show", "trip.md") == .success)
        #expect(world.out == Self.text && world.err.isEmpty)
        try await world.put("plain\n", "/byteclub/plain.md")
        #expect(await world.run("notes", "show", "plain.md", in: world.context(terminal: Self.terminal)) == .success)
        #expect(world.out == "plain\n" && world.err.isEmpty)
    }

    @Test("a large note takes no more than pieces of it, wherever a piece ends")
    func pieces() async throws {
        let world = try World()
        for shift in 0..<4 {
            let text = String(repeating: "x", count: shift) + String(repeating: "\u{202E}é", count: 60_000) + "\u{1B}"
            try await world.put(text, "/byteclub/large.md")
            var context = world.context(terminal: Self.terminal)
            let output = context.output
            context.output = Output { bytes in
                #expect(bytes.count <= 4 * (64 << 10))
                try output.write(bytes)
            }
            #expect(await world.run("notes", "show", "large.md", in: context) == .success)
            #expect(
                world.out == String(repeating: "x", count: shift)
                    + String(repeating: "<U+202E>é", count: 60_000) + "^[")
        }
    }

    @Test("neither what is done to a note nor its JSON drives the terminal, and the JSON says the very name")
    func names() async throws {
        let world = try World()
        let name = "a\u{9B}31m\u{202E}dm.b"
        for terminal in [Terminal.none, Self.terminal] {
            for json in [[], ["--json"]] {
                for command in [
                    ["add", name, "--force"], ["list"], ["history", name], ["search", "31m"], ["rm", name],
                ] {
                    let context = world.context(["NO_COLOR": "1"], input: "x", terminal: terminal)
                    let status = await ByteClub.run(["notes"] + command + json, in: context)
                    #expect(status == .success, "\(command): \(world.err)")
                }
            }
        }
        #expect(ordersToTerminal(in: world.outBytes).isEmpty)
        #expect(ordersToTerminal(in: Array(world.err.utf8)).isEmpty)
        let change = EntryChange(
            verb: "added", entry: try await world.put("x", "/byteclub/" + name), folder: try RemotePath("/byteclub"))
        let read = try JSONDecoder().decode([String: Value].self, from: Data(JSON.bytes(change)))
        #expect(read["name"]?.text.map { Array($0.utf8) } == Array(name.utf8))
    }

    /// A text, or anything else.
    private struct Value: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
    }
}
