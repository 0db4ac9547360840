import Foundation
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

/// Compares answers with the committed ones in `Fixtures/api-v1`; `BYTECLUB_RECORD=1` writes them anew.
enum GoldenAnswer {
    /// Checks an answer's status and the bytes of its body.
    static func check(
        _ answer: RawMessage, _ name: String, status: Int = 200, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(answer.status == status, "\(name)", sourceLocation: sourceLocation)
        #expect(answer["Content-Type"] == "application/json", "\(name)", sourceLocation: sourceLocation)
        try check(answer.text, name, sourceLocation: sourceLocation)
    }

    /// Checks a JSON text.
    static func check(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let text = fixed(text) + "\n"
        let path = Fixture.path("api-v1/\(name).json")
        if unsafe getenv("BYTECLUB_RECORD") != nil { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
        let expected = String(decoding: Fixture.bytes(at: path), as: UTF8.self)
        #expect(text == expected, "run with BYTECLUB_RECORD=1 to record", sourceLocation: sourceLocation)
    }

    /// A text whose random parts, and the room on this machine's disk, are always the same.
    private static func fixed(_ text: String) -> String {
        text.replacing(/"cursor":"[^"]+"/, with: #""cursor":"opaque""#)
            .replacing(/"quota":[0-9]+/, with: #""quota":2147483648"#)
            .replacing(/"upload_id":"[^"]+"/, with: #""upload_id":"0123456789abcdef0123456789abcdef""#)
            .replacing(/"copy_ref":"[^"]+"/, with: #""copy_ref":"0123456789abcdef0123456789abcdef""#)
            .replacing(/\/s\/[0-9a-f]{32}\//, with: "/s/0123456789abcdef0123456789abcdef/")
            .replacing(/\/view\/[^\/]+\//, with: "/view/s3cr3t/")
    }
}
