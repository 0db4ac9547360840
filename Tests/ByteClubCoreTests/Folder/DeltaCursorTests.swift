import ByteClubCore
import Testing

@Suite("DeltaCursor")
struct DeltaCursorTests {
    @Test("a sealed cursor opens as it was")
    func roundTrip() throws {
        let cursor = DeltaCursor(
            epoch: "e1", member: 42, revision: 1 << 40, prefix: try RemotePath("/é. f").key, includesMediaInfo: true)
        let text = cursor.sealed(secret: [1, 2, 3])
        #expect(DeltaCursor(sealed: text, secret: [1, 2, 3]) == cursor)
        #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }

    @Test("a cursor with any character changed, cut or signed by another is refused")
    func tampering() throws {
        let text = DeltaCursor(epoch: "e", member: 1, revision: 77, prefix: try RemotePath("/a").key)
            .sealed(secret: [1])
        for index in text.indices {
            for digit in ["0", "7", "f", "."] where String(text[index]) != digit {
                let forged = text[..<index] + digit + text[text.index(after: index)...]
                #expect(DeltaCursor(sealed: String(forged), secret: [1]) == nil)
            }
            #expect(DeltaCursor(sealed: String(text[..<index]), secret: [1]) == nil)
        }
        #expect(DeltaCursor(sealed: text, secret: [2]) == nil)
        #expect(DeltaCursor(sealed: text + "0", secret: [1]) == nil)
        #expect(DeltaCursor(sealed: "", secret: [1]) == nil)
    }
}
