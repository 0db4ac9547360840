import Glibc
public import Testing

/// Compares a text with a committed file; `BYTECLUB_RECORD=1` writes the file anew.
public enum Golden {
    /// Expects the file of this name in `Fixtures/cli` to hold the text.
    ///
    /// - Throws: When the file cannot be written.
    public static func check(
        _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let path = Fixture.path("cli/" + name)
        if unsafe getenv("BYTECLUB_RECORD") != nil { try LocalFiles.write(text, to: path) }
        let expected = String(decoding: Fixture.bytes(at: path), as: UTF8.self)
        #expect(text == expected, "run with BYTECLUB_RECORD=1 to record", sourceLocation: sourceLocation)
    }
}
