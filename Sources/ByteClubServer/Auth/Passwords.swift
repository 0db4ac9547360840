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

    /// Parses a stored hash; nil when this program did not write the text.
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

    /// Checks a password; without a hash it needs the same time, and fails.
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

/// A link that replaces a forgotten password, once.
///
/// It is not stored. Its code depends on the password that it replaces, so that all links of a member die with the next
/// password. A link from an owner works only while its maker is an owner with the same password: a new password of the
/// owner also disables links that were made with the stolen one.
struct PasswordReset: Hashable, Sendable {
    /// How long a link works, in seconds.
    static let lifetime: Int64 = 86_400

    /// The number of the member whose password it sets.
    let member: Int64
    /// Its maker; nil for the server's machine.
    let maker: OwnerState?
    /// When it dies, in seconds since 1970.
    let expires: Int64

    /// The end of the link.
    func secret(replacing password: PasswordHash?, key: SymmetricKey) -> String {
        let place = "\(member)-\(maker?.uid ?? Invitation.byHost)-\(expires)"
        let signed = "reset \(place) \(password?.text ?? "") \(maker?.password?.text ?? "")"
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: key)
        return place + "-" + Hexadecimal.encode(Array(code.prefix(16)))
    }

    /// Whose password a link sets, and which one it replaces; nil when the link does not work (any more).
    static func member(
        of secret: String, in store: any ClubStore, at now: Int64
    ) async throws -> (member: Member, replaced: ReplacedPassword)? {
        let parts = secret.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, let uid = Int64(parts[0]), let makerUID = Int64(parts[1]),
            let expires = Int64(parts[2]), expires > now
        else { return nil }
        let members = try await store.members().filter { !$0.isDisabled }
        func state(of uid: Int64) async throws -> (member: Member, password: PasswordHash?)? {
            guard let name = members.first(where: { $0.uid == uid })?.name else { return nil }
            return try await store.credentials(ofMember: name)
        }
        guard let found = try await state(of: uid) else { return nil }
        var maker: OwnerState?
        if makerUID != Invitation.byHost {
            guard let owner = try await state(of: makerUID), owner.member.role == .owner else { return nil }
            maker = OwnerState(uid: makerUID, password: owner.password)
        }
        let reset = PasswordReset(member: uid, maker: maker, expires: expires)
        let expected = reset.secret(replacing: found.password, key: store.signingKey)
        return ConstantTime.equal(secret, expected) ? (found.member, .exactly(found.password, vouchedBy: maker)) : nil
    }
}
