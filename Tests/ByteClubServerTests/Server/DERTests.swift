import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Values of ASN.1 in DER")
struct DERTests {
    @Test("the length has as many bytes as it needs")
    func lengths() {
        #expect(DER(.octets, []).bytes == [0x04, 0])
        #expect(DER(.octets, [UInt8](repeating: 7, count: 127)).bytes.prefix(3) == [0x04, 127, 7])
        #expect(DER(.octets, [UInt8](repeating: 7, count: 128)).bytes.prefix(4) == [0x04, 0x81, 128, 7])
        #expect(DER(.octets, [UInt8](repeating: 7, count: 255)).bytes.prefix(4) == [0x04, 0x81, 255, 7])
        #expect(DER(.octets, [UInt8](repeating: 7, count: 256)).bytes.prefix(5) == [0x04, 0x82, 1, 0, 7])
        #expect(DER(.octets, [UInt8](repeating: 7, count: 65_536)).bytes.prefix(6) == [0x04, 0x83, 1, 0, 0, 7])
    }

    @Test("identifiers have seven bits in a byte")
    func identifiers() {
        #expect(DER.identifier(2, 5, 29, 15).bytes == [0x06, 3, 0x55, 0x1D, 0x0F])
        #expect(DER.identifier(1, 2, 0, 127, 128).bytes == [0x06, 5, 0x2A, 0, 127, 0x81, 0])
        #expect(
            DER.identifier(1, 2, 840, 10045, 4, 3, 2).bytes == [
                0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02,
            ])
        #expect(
            DER.identifier(1, 3, 6, 1, 5, 5, 7, 3, 1).bytes == [
                0x06, 8, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01,
            ])
    }

    @Test("OpenSSL reads the same values that were written")
    func read() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/value.der"
        let long = String(repeating: "long ", count: 40)
        let value = DER.sequence(
            DER(.integer, [2]).explicit(3), DER(.boolean, [0xFF]), .identifier(1, 2, 840, 10045, 4, 3, 2),
            DER(.set, DER(.text, long.utf8).bytes), DER(.bits, [7, 0x80]), DER(.octets, [1, 2]),
            DER(.time, "260101000000Z".utf8), DER(.longTime, "99991231235959Z".utf8), .sequence())
        try LocalFiles.write(value.bytes, to: path)
        let read = try await Program.run(
            try #require(Program.system("openssl")), ["asn1parse", "-inform", "DER", "-in", path])
        // Without the depths and the lengths.
        let values = read.lines.map { $0.dropFirst(23).split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        let expected = [
            "cons: SEQUENCE", "cons: cont [ 3 ]", "prim: INTEGER :02", "prim: BOOLEAN :255",
            "prim: OBJECT :ecdsa-with-SHA256", "cons: SET", "prim: UTF8STRING :\(long.dropLast())",
            "prim: BIT STRING", "prim: OCTET STRING [HEX DUMP]:0102", "prim: UTCTIME :260101000000Z",
            "prim: GENERALIZEDTIME :99991231235959Z", "cons: SEQUENCE",
        ]
        #expect(values == expected)
    }
}
