import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The extension's documentation") struct SyncDocumentationTests {
    /// A fenced block: what language it is in, and its lines.
    private struct Block {
        let language: String
        let text: String

        static func all(in text: String) -> [Block] {
            var blocks: [Block] = []
            var open: (language: String, lines: [Substring])?
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if let block = open {
                    if line == "```" {
                        blocks.append(Block(language: block.language, text: block.lines.joined(separator: "\n")))
                        open = nil
                    } else {
                        open = (block.language, block.lines + [line])
                    }
                } else if line.hasPrefix("```") {
                    open = (String(line.dropFirst(3)), [])
                }
            }
            return blocks
        }
    }

    /// An answer with what differs from server to server and from time to time replaced.
    private static func settled(_ text: String, _ server: TestServer) -> String {
        var parts = text.split(separator: "\"modified\":", omittingEmptySubsequences: false).map(String.init)
        for index in parts.indices.dropFirst() {
            parts[index] = "1790000000" + parts[index].drop { $0.isNumber }
        }
        return parts.joined(separator: "\"modified\":").split(
            separator: server.store.epoch, omittingEmptySubsequences: false
        ).joined(separator: "5f0c7a9e2b8d4c61a3e0f1b2c3d4e5f6")
    }

    @Test("each example is answered as it says")
    func examples() async throws {
        let path = Fixture.projectRoot + "/Sources/ByteClubServer/Documentation.docc/Sync.md"
        let blocks = Block.all(in: String(decoding: Fixture.bytes(at: path), as: UTF8.self))[...]
        try #require(blocks.count { $0.language == "http" } == 5)
        try await TestServer.run { [blocks] server in
            var blocks = blocks
            while let request = blocks.popFirst() {
                #expect(request.language == "http")
                var body: [UInt8] = []
                if request.text.hasPrefix("POST"), let head = blocks.popFirst() {
                    body = Array(head.text.utf8)
                    if blocks.first?.language == "text", let contents = blocks.popFirst() {
                        body += [10] + Array(contents.text.utf8)
                    }
                }
                var expected = blocks.popFirst()?.text ?? ""
                if blocks.first?.language == "text", let contents = blocks.popFirst() {
                    expected += "\n" + contents.text
                }
                let answer = try await server.send(request.text, body: body)
                #expect(Self.settled(answer.text, server) == expected, "\(request.text)")
            }
        }
    }
}
