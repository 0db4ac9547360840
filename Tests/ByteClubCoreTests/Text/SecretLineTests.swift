import ByteClubCore
import Testing

@Suite struct SecretLineTests {
    @Test("keys that nobody sees make a line, take some of it back, or end it")
    func keys() {
        var line = SecretLine()
        for key in Array("abx".utf8) { #expect(line.take(key) == .more) }
        #expect(line.take(0x7F) == .more)
        #expect(line.bytes == Array("ab".utf8))
        #expect(line.take(0x03) == .interrupted)
        #expect(line.take(0x0D) == .done)
        var empty = SecretLine()
        #expect(empty.take(0x04) == .ended)
    }
}
