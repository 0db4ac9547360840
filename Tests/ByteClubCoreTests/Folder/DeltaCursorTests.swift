import ByteClubCore
import Crypto
import Testing

@Suite("DeltaCursor")
struct DeltaCursorTests {
    private static func key(_ bytes: UInt8...) -> SymmetricKey { SymmetricKey(data: bytes) }

    @Test("a sealed cursor opens as it was")
    func roundTrip() throws {
        let cursor = DeltaCursor(
            epoch: "e1", member: 42, revision: 1 << 40, prefix: try RemotePath("/é. f").key, includesMediaInfo: true)
        let text = cursor.sealed(with: Self.key(1, 2, 3))
        #expect(DeltaCursor(sealed: text, key: Self.key(1, 2, 3)) == cursor)
        #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }

    @Test("a cursor with any character changed, cut or signed by another is refused")
    func tampering() throws {
        let text = DeltaCursor(epoch: "e", member: 1, revision: 77, prefix: try RemotePath("/a").key)
            .sealed(with: Self.key(1))
        for index in text.indices {
            for digit in ["0", "7", "f", "."] where String(text[index]) != digit {
                let forged = text[..<index] + digit + text[text.index(after: index)...]
                #expect(DeltaCursor(sealed: String(forged), key: Self.key(1)) == nil)
            }
            #expect(DeltaCursor(sealed: String(text[..<index]), key: Self.key(1)) == nil)
        }
        #expect(DeltaCursor(sealed: text, key: Self.key(2)) == nil)
        #expect(DeltaCursor(sealed: text + "0", key: Self.key(1)) == nil)
        #expect(DeltaCursor(sealed: "", key: Self.key(1)) == nil)
    }
}
