import ByteClubCore
import Crypto
import CryptoExtras
import Dispatch

/// A password as it is kept: scrypt (RFC 7914) with a salt of its own, written `scrypt$N$r$p$salt$key`.
struct PasswordHash: Hashable, Sendable {
    /// The fewest and the most bytes of a password.
    static let lengths = 8...1024
    /// N = 2^14, r = 8, p = 5: 16 MiB of memory, and as hard as N = 2^17, p = 1.
    private static let cost = (rounds: 1 << 14, blockSize: 8, parallelism: 5)
    private static let keyLength = 32
    // Who answers strangers bounds how many there are at once, by ``SharedLimits/passwordHashes``.
    private static let queue = DispatchQueue(label: "byteclub.passwords", qos: .utility, attributes: .concurrent)

    /// The text that is kept.
    let text: String

    /// Takes a kept text; nil when it is none that this program wrote.
    init?(text: String) {
        guard text.hasPrefix("scrypt$"), text.split(separator: "$").count == 6 else { return nil }
        self.text = text
    }

    private init(salt: String, key: [UInt8]) {
        let cost = Self.cost
        text = "scrypt$\(cost.rounds)$\(cost.blockSize)$\(cost.parallelism)$\(salt)$\(Hexadecimal.encode(key))"
    }

    /// Hashes a new password.
    ///
    /// - Throws: ``StorageError`` `badMember` for a password that is too short or too long.
    static func make(_ password: String) async throws -> PasswordHash {
        guard lengths.contains(password.utf8.count) else {
            throw StorageError(
                .badMember, "a password must have \(lengths.lowerBound) to \(lengths.upperBound) bytes")
        }
        let salt = Secret.text(bytes: 16)
        let key = try await derive(
            password, salt, cost.rounds, cost.blockSize, cost.parallelism)
        return PasswordHash(salt: salt, key: key)
    }

    /// Tells whether a password is this one; takes as long when there is no hash to compare with.
    static func verify(_ password: String, against known: PasswordHash?) async throws -> Bool {
        let parts = known?.text.split(separator: "$").map(String.init) ?? []
        let numbers = parts.dropFirst().prefix(3).compactMap { Int($0) }
        guard parts.count == 6, numbers.count == 3 else {
            _ = try await derive(password, "", cost.rounds, cost.blockSize, cost.parallelism)
            return false
        }
        let key = try await derive(password, parts[4], numbers[0], numbers[1], numbers[2])
        return ConstantTime.equal(Hexadecimal.encode(key), parts[5])
    }

    private static func derive(
        _ password: String, _ salt: String, _ rounds: Int, _ blockSize: Int, _ parallelism: Int
    ) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        let key = try KDF.Scrypt.deriveKey(
                            from: Array(password.utf8), salt: Array(salt.utf8), outputByteCount: keyLength,
                            rounds: rounds, blockSize: blockSize, parallelism: parallelism)
                        return unsafe key.withUnsafeBytes { unsafe Array($0) }
                    })
            }
        }
    }
}
