import ByteClubCore
import Foundation
import TestSupport
import Testing

@Suite("Reading JSON")
struct JSONReaderTests {
    private func read<Value: JSONReadable>(_ text: String) throws(JSONError) -> Value {
        try JSONReader.read(from: Array(text.utf8))
    }

    @Test("strings with every escape, in plain bytes and beyond the basic plane are what Foundation reads")
    func strings() throws {
        for text in [
            #""""#, #""a""#, #""\"\\\/\b\f\n\r\t""#, #""\u0041\u00e9\u20AC""#, #""\uD83D\uDE00 😀 é""#, #""\u0000""#,
            "\"\u{7F}\u{2028}\"", #""ends in \\""#,
        ] {
            let expected = try JSONDecoder().decode(String.self, from: Data(text.utf8))
            #expect(try read(text) == expected, "\(text)")
        }
    }

    @Test("what is no JSON is refused, wherever it breaks off")
    func broken() throws {
        let whole = #"{"reset": false, "cursor": "a\u00e9", "has_more": true, "entries": [["/a", null]]}"#
        #expect(try (read(whole) as DeltaPage).cursor == "aé")
        for length in 0..<whole.utf8.count {
            #expect(throws: JSONError.self, "\(length)") {
                try JSONReader.read(DeltaPage.self, from: Array(whole.utf8.prefix(length)))
            }
        }
        for text in [
            "\"\u{1}\"", #""\x""#, #""\uD83D""#, #""\uD83Dx""#, #""\uDE00""#, #""\u12G4""#, #""\u００４１""#, "\"a", "'a'",
            "a",
            "<html>", "nul", #""a" "b""#, #""a","#,
        ] {
            #expect(throws: JSONError.self, "\(text)") { try read(text) as String }
        }
        for text in ["01", "-", "+1", "1.", ".5", "1e", "--1", "1.5", "9223372036854775808", "true", "\"1\"", ""] {
            #expect(throws: JSONError.self, "\(text)") { try read(text) as Int64 }
        }
        #expect(throws: JSONError.self) { try JSONReader.read(String.self, from: [0x22, 0xC3, 0x28, 0x22]) }
        #expect(throws: JSONError.self) { try JSONReader.read(String.self, from: [0x22, 0xED, 0xA0, 0x80, 0x22]) }
    }

    @Test("numbers at their limits are read, and what is not asked for is skipped in any form")
    func values() throws {
        #expect(try read(" -9223372036854775808 ") == Int64.min && read("9223372036854775807") == Int64.max)
        #expect(try read("0") == Int64(0) && read("true") == true && read("[false,true]") == [false, true])
        let text =
            #"{"x": [1.5e-3, -0, {"y": [[], {}, "}"]}, null, true, false], "changes": true, "": "\"", "backoff": 60}"#
        #expect(try read(text) == LongpollResult(changes: true, backoff: 60))
        #expect(try read(#"{"changes": false, "changes": true, "backoff": null}"#) == LongpollResult(changes: true))
    }

    @Test("a text nested without end is refused, not followed")
    func deep() {
        for opening in ["[", #"{"a":"#] {
            let text = #"{"changes": true, "x": "# + String(repeating: opening, count: 100_000)
            #expect(throws: JSONError.self) { try read(text) as LongpollResult }
        }
    }

    @Test("an error names the place and what is wrong there")
    func messages() {
        let page = { (entries: String) in #"{"reset":false,"cursor":"c","has_more":false,"entries":\#(entries)}"# }
        let cases = [
            (page("[]x"), "invalid JSON at byte 57"), ("{}", "it has no 'reset'"),
            (#"{"x": {1: 2}}"#, "invalid JSON at byte 7"), ("{null: 1}", "invalid JSON at byte 1"),
            (#"{"reset": true,}"#, "invalid JSON at byte 15"), ("[]", "it is of another type"),
            (page("7"), "'entries' is of another type"),
            (page(#"[["/a", {"path": "/a"}]]"#), "'entries.0.1' has no 'is_dir'"),
            (page(#"[["/a", null], ["/b", {"path": "/b", "is_dir": 1}]]"#), "'entries.1.1.is_dir' is of another type"),
            (page(#"[["/b", {"path": "/b", "is_dir": true, "rev": ""}]]"#), "'entries.0.1.rev' is not a rev"),
            (page(#"[["/b"]]"#), "'entries.0' is not a pair of a path and metadata"),
        ]
        for (text, message) in cases {
            let error = #expect(throws: JSONError.self) { try read(text) as DeltaPage }
            #expect(error?.description == message)
        }
    }

    @Test("numbers beyond 64 bits and with a fraction are told apart")
    func numbers() {
        let cases = [
            ("9223372036854775808", "it is beyond 64 bits"), ("-9223372036854775809", "it is beyond 64 bits"),
            ("1.0", "it is of another type"), ("1e3", "it is of another type"),
        ]
        for (text, message) in cases {
            let error = #expect(throws: JSONError.self) { try read(text) as Int64 }
            #expect(error?.description == message, "\(text)")
        }
    }

    /// Any JSON at all.
    private struct Anything: JSONReadable {
        init(json: inout JSONReader) throws(JSONError) { try json.skip() }
    }

    @Test("bytes changed at random are accepted and refused as Foundation does it, and read alike")
    func random() throws {
        print("seed 17")
        var generator = SeededGenerator(seed: 17)
        let whole = Array(
            #"{"path":"/Ä b","is_dir":false,"bytes":12,"rev":"1a500000001","hash":null,"size":"\u00e4\\","x":[1,{}]}"#
                .utf8)
        var (accepted, refused) = (0, 0)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = UInt8.random(in: 0x20...0x7E, using: &generator)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let isRead = (try? JSONReader.read(Anything.self, from: bytes)) != nil
            let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
            #expect(isRead == (object != nil), "\(text)")
            if isRead { accepted += 1 } else { refused += 1 }
            guard let metadata = try? JSONReader.read(Metadata.self, from: bytes) else { continue }
            #expect((object?["path"] as? String).map { try? RemotePath($0) } == metadata.path, "\(text)")
            #expect(object?["bytes"] as? Int64 ?? 0 == metadata.bytes, "\(text)")
        }
        #expect(accepted > 1_000 && refused > 1_000, "\(accepted) and \(refused)")
    }
}
