/// The resources that requests share, and the limits of each requester; all are defined here.
///
/// ``RequestCost`` lists those that an endpoint needs before it is served. Connections are shared by network in
/// ``OpenConnections``, the disk by member in ``UploadStore``.
struct SharedLimits: Sendable {
    /// The database readers: those of ``searches`` and ``listings``, and some for short reads.
    static let databaseReaders = 8
    /// The longest form in bytes that needs no memory of ``forms``.
    static let smallForm = 16 << 10
    /// The longest answer that is sent without asking ``answers``, in bytes.
    static let smallAnswer = 64 << 10

    /// Bytes of forms that are longer than ``smallForm``, while they are held.
    let forms = FairSemaphore(
        "memory for forms",
        .init(total: 8 << 20, strangers: 4 << 20, member: 1 << 20, network: 256 << 10))
    /// Bytes of bodies of programs that are held whole: batches and chunks.
    let bodies = FairSemaphore(
        "memory for uploads",
        .init(total: 64 << 20, strangers: 1, member: 24 << 20, network: 1, queue: 1024, queueOfRequester: 64))
    /// Bytes of answers that are longer than ``smallAnswer``, until they are sent.
    let answers = FairSemaphore(
        "memory for large answers",
        .init(
            total: 48 << 20, strangers: 16 << 20, member: 16 << 20, network: 4 << 20, queue: 1024, queueOfRequester: 64)
    )
    /// Database readers for requests that read many rows into an answer.
    let listings = FairSemaphore(
        "database readers",
        .init(total: 3, strangers: 1, member: 2, network: 1, queue: 1024, queueOfRequester: 64))
    /// Database readers for searches, which read every name.
    let searches = FairSemaphore(
        "database readers for searches",
        .init(total: 2, strangers: 1, member: 1, network: 1, queue: 256, queueOfRequester: 8))
    /// Threads that decode pictures.
    let renderings = FairSemaphore(
        "threads for pictures",
        .init(total: 2, strangers: 1, member: 2, network: 1, queue: 256, queueOfRequester: 32))
    /// Folders that are being sent as archives; each holds the names of all that is in it.
    let archives = FairSemaphore("folders to download", .init(total: 8, strangers: 6, member: 3, network: 3))
    /// Turns for hashing a password of an unauthenticated visitor; each needs 16 MiB and a core.
    let passwordHashes = FairSemaphore(
        "processors for passwords",
        .init(total: 1, strangers: 1, member: 1, network: 1, queue: 64, queueOfRequester: 8))

    /// Hashes of passwords for browsers in which the name has signed in before, which wait for no stranger.
    let knownPasswordHashes = FairSemaphore(
        "processors for passwords",
        .init(total: 1, strangers: 1, member: 1, network: 1, queue: 64, queueOfRequester: 8))
    /// Attempts to sign in with a name that many try to guess; each is delayed.
    let doubtedSignIns = FairSemaphore(
        "slots for password checks",
        .init(total: 4, strangers: 4, member: 1, network: 1, queue: 256, queueOfRequester: 4))

    /// All of them, by the name that operators see.
    var all: [(name: String, pool: FairSemaphore)] {
        [
            ("forms", forms), ("bodies", bodies), ("answers", answers), ("listings", listings),
            ("searches", searches), ("renderings", renderings), ("archives", archives),
            ("password_hashes", passwordHashes), ("known_password_hashes", knownPasswordHashes),
            ("doubted_sign_ins", doubtedSignIns),
        ]
    }
}

/// The account or network that a request's resources are charged to.
enum Requester: Hashable, Sendable {
    /// A member, from any address.
    case member(Int64)
    /// A visitor without an account, by network (``IPAddress/network``); nil when the connection has no address.
    case stranger(IPAddress?)

    /// Whether it has no account.
    var isStranger: Bool {
        if case .stranger = self { true } else { false }
    }
}
