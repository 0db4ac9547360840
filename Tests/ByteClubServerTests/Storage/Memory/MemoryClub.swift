import ByteClubCore
import FoundationEssentials
import TestSupport

@testable import ByteClubServer

/// All that a club has, as a value: a change works on a copy, so that one that fails leaves nothing of it.
struct MemoryClub: Sendable {
    /// A member with the hash of the password.
    struct Person: Sendable {
        var member: Member
        var password: PasswordHash?
    }

    /// A program that a member has let in; of its token the hash is kept.
    struct Access: Sendable {
        let id: Int64
        let hash: Data
        /// The secret that signs OAuth 1 requests; nil for a bearer token.
        let secret: String?
        let member: Int64
        let app: String
        let name: String
        let created: APIDate
        var seen: APIDate
    }

    /// An OAuth 1 sign-in that has begun.
    struct RequestToken: Sendable {
        let secret: String
        let app: String
        var member: Int64?
    }

    /// What an invitation is good for, and who made it.
    struct Invited: Sendable {
        let role: Role
        let inviter: Int64
    }

    /// A link by its maker's number and its entry's identity.
    struct LinkRow: Sendable {
        let id: Int64
        let secret: String
        let purpose: Link.Purpose
        let member: Int64
        let node: NodeID
        let revision: Int64
        let created: Int64
        var expires: Int64
        var password: PasswordHash?
        var keepsLocation: Bool
    }

    /// An upload in pieces; the chunk that may go on with it is its holder.
    struct Upload: Sendable {
        let member: Int64
        let expires: Int64
        let begun: Int64
        var bytes: [UInt8] = []
        var touched: Int64
        var isCompleted = false
        var holder: Int?
    }

    var folder = MemoryFolderState()
    /// The small contents.
    var contents: [ContentHash: [UInt8]] = [:]
    var photos: [ContentHash: MediaInfo] = [:]
    /// The placeholders of contents.
    var placeholders: [ContentHash: [UInt8]] = [:]
    var publicURL: String?
    var clubName: String?
    var people: [Person] = []
    var accesses: [Access] = []
    var apps = [App(key: Secret.text(bytes: 8), secret: Secret.text(bytes: 16), name: App.oauth1Name, redirects: [])]
    var requestTokens = SecretTable<RequestToken>()
    var codes = SecretTable<Grant>()
    var sessions = SecretTable<Int64>()
    var invitations = SecretTable<Invited>()
    var links: [LinkRow] = []
    var uploads: [String: Upload] = [:]
    var age: HistoryAge
    /// Which change was the last one at which age, the oldest first.
    var marks: [(age: Int64, revision: Int64)] = []
    /// The last change whose predecessor has been purged, if it was old enough.
    var purged: Int64 = 0
    /// The highest number that was given to a device, a link or a chunk.
    var lastNumber: Int64 = 0
    var statistics = StoreStatistics()
    var isClosed = false

    /// A club of nobody and nothing.
    init(age: HistoryAge) {
        self.age = age
    }

    /// A number that nothing had before.
    mutating func nextNumber() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    /// The member with a number.
    func member(_ uid: Int64) -> Member? { people.first { $0.member.uid == uid }?.member }

    /// What the member with a number is called, also one who was removed.
    func name(_ uid: Int64) -> String? { member(uid)?.name }

    /// Where the member of a name is among ``people``; nil for one who was removed.
    func place(ofMember name: String) -> Int? {
        let folded = PathKey.fold(name)
        return people.firstIndex { !$0.member.isDisabled && PathKey.fold($0.member.name) == folded }
    }

    /// What is live: all of it, and by the member who wrote each entry last.
    func usage() -> UsageChange {
        folder.descendants(.root, limit: .max).reduce(into: UsageChange()) { sum, entry in
            sum.add(Usage(entry), of: entry.author)
        }
    }

    /// The bytes of the unfinished uploads of a member, or of everybody.
    func unfinishedBytes(of member: Int64?) -> Int64 {
        uploads.values.reduce(0) { sum, upload in
            upload.isCompleted || upload.member != member ?? upload.member ? sum : sum + Int64(upload.bytes.count)
        }
    }
}

/// What secrets stand for until they die; of a secret the hash is kept.
struct SecretTable<Value: Sendable>: Sendable {
    private var rows: [Data: (value: Value, expires: Int64)] = [:]

    /// Keeps a value under a secret for so many seconds.
    mutating func add(_ value: Value, _ secret: String, for lifetime: Int64, at now: Int64) {
        rows = rows.filter { $0.value.expires > now }
        rows[Secret.hash(secret)] = (value, now + lifetime)
    }

    /// What a secret stands for, and the first moment at which it no longer does.
    func find(_ secret: String, at now: Int64) -> (value: Value, expires: Int64)? {
        rows[Secret.hash(secret)].flatMap { $0.expires > now ? $0 : nil }
    }

    /// Gives a secret that is known another value.
    mutating func update(_ secret: String, _ value: Value) { rows[Secret.hash(secret)]?.value = value }

    /// Forgets a secret.
    mutating func remove(_ secret: String) { rows[Secret.hash(secret)] = nil }

    /// Forgets the secret with a hash.
    mutating func remove(hash: Data) { rows[hash] = nil }

    /// What has not died, the first to die first.
    func all(at now: Int64) -> [(hash: Data, value: Value, expires: Int64)] {
        rows.filter { $0.value.expires > now }.map { ($0.key, $0.value.value, $0.value.expires) }
            .sorted { ($0.expires, OpenInvitation.id($0.hash)) < ($1.expires, OpenInvitation.id($1.hash)) }
    }

    /// Forgets the secrets of some values.
    mutating func remove(where condition: (Value) -> Bool) { rows = rows.filter { !condition($0.value.value) } }
}
