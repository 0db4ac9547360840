import Glibc
import TestSupport
import Testing

@testable import ByteClubCLI

/// Compares a text with a committed file; `BYTECLUB_RECORD=1` writes the file anew.
enum Golden {
    static func check(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let path = Fixture.path("cli/" + name)
        if unsafe getenv("BYTECLUB_RECORD") != nil {
            try LocalFile.replace(path, with: Array(text.utf8), mode: 0o644)
        }
        let expected = String(decoding: Fixture.bytes(at: path), as: UTF8.self)
        #expect(text == expected, "run with BYTECLUB_RECORD=1 to record", sourceLocation: sourceLocation)
    }
}
