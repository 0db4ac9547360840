import ByteClubCore
import TestSupport
import Testing

@Suite("ContentHasher")
struct ContentHasherTests {
    static let vectors: [(Int, String)] = [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (1, "1406e05881e299367766d313e26c05564ec91bf721d31726bd6e46e60689539a"),
        (4194303, "c2a78be35b4e7f63041e9275d81564ad288d635a2730de318fd64fd5ce5d159e"),
        (4194304, "56efd10756134401ee860fc4a3d0eb99bad4be7377d696a68fe5fcb949eef227"),
        (4194305, "fe67b84ce96fc772bfa690f509c6963604a676d1a4c61eede13b237fe61f0252"),
        (8388608, "907a62a8b24dc4a48b60ad1f66a6a508821942b64553af89094dee72e58cf494"),
        (10000000, "6219b93630b1190ef3614ec2db0a346efda8511645d787b58a6b98dbf9dc70f5"),
    ]

    private static func pattern(_ count: Int) -> [UInt8] {
        var period: [UInt8] = []
        for index in 0..<(251 * 256) { period.append(UInt8((index * 7 + index / 251) % 256)) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + period.count)
        while bytes.count < count { bytes += period }
        return Array(bytes.prefix(count))
    }

    @Test("the hash is the one that another implementation computes", arguments: vectors)
    func vector(_ count: Int, _ hash: String) {
        #expect(ContentHasher.hash(Self.pattern(count)).description == hash)
    }

    @Test("pieces of any length and blocks hashed elsewhere make the same hash")
    func pieces() {
        print("seed 4")
        var generator = SeededGenerator(seed: 4)
        let bytes = Self.pattern(9_000_000)
        let whole = ContentHasher.hash(bytes)
        var hasher = ContentHasher()
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 0...3_000_000, using: &generator)
            hasher.update(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        #expect(hasher.finalize() == whole)
        var blocks = ContentHasher()
        for start in stride(from: 0, to: bytes.count, by: ContentHash.blockSize) {
            var block = BlockHasher()
            let part = Array(bytes[start..<min(start + ContentHash.blockSize, bytes.count)])
            unsafe part.withUnsafeBytes { unsafe block.update($0) }
            blocks.append(blockDigest: block.finalize())
        }
        #expect(blocks.finalize() == whole)
    }

    @Test("a hash is 64 hexadecimal digits")
    func text() {
        let hash = ContentHasher.hash([])
        #expect(ContentHash(hash.description.uppercased()) == hash)
        #expect(ContentHash(String(hash.description.dropLast())) == nil && ContentHash(hash.description + "00") == nil)
        #expect(ContentHash("g" + hash.description.dropFirst()) == nil)
        #expect(
            Hexadecimal.decode("0g") == nil && Hexadecimal.decode("abc") == nil
                && Hexadecimal.decode("0aFF") == [10, 255])
    }
}
