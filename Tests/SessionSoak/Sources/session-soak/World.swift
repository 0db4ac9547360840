import Glibc
import HTTPTypes
import Synchronization

@testable import ByteClubHTTP

/// What all sessions of the soak share: the servers, the rules, and what was left for later.
final class World: Sendable {
    /// A download that waits to be continued, perhaps by another session.
    struct Parked: Sendable {
        let data: ResumeData
        let file: Int
        let origin: String
    }

    private struct Held {
        weak var session: Session?
    }

    let ledger = Ledger()
    let watch = Watch()
    let folder: String
    let origins: [ChaosServer]
    /// Asks for credentials, and leads to the origins by their other names.
    let proxy: ChaosServer
    /// Bound, but nobody listens.
    let refusing: String
    /// Connections are made, and nobody answers.
    let silent: String
    /// A TLS server, where there is one.
    let tls: TLSServer?
    /// Whether the system has a list of public suffixes, without which cookies for them are kept.
    static let knowsSuffixes = PublicSuffixes.system != nil
    /// Where the kernel has no route to, whatever the network: TCP cannot reach a group.
    static let unreachable = "224.0.0.1"

    private let parked = Mutex<[Parked]>([])
    private let sessions = Mutex<[Held]>([])
    private let lastName = Atomic<Int>(0)

    init(folder: String, tls: TLSServer?, seed: UInt64) throws {
        self.folder = folder
        self.tls = tls
        let versions = Versions()
        let (_, closed) = try ClosedPort.listen(1, backlog: nil)
        let (_, mute) = try ClosedPort.listen(1, backlog: 4)
        refusing = "127.0.0.1:\(closed)"
        silent = "127.0.0.1:\(mute)"
        origins = [
            try ChaosServer("A", host: 1, versions: versions, ledger: ledger, seed: seed &+ 1),
            try ChaosServer("B", host: 2, versions: versions, ledger: ledger, seed: seed &+ 2),
        ]
        proxy = try ChaosServer(
            "P", host: 3, versions: versions, ledger: ledger, seed: seed &+ 3, proxied: origins)
        let places = origins.map(\.authority)
        for origin in origins { origin.lead(to: places + places + places + [refusing]) }
    }

    /// A name that nothing else has.
    func newName(_ kind: String) -> String { "\(kind)-\(lastName.wrappingAdd(1, ordering: .relaxed).newValue)" }

    /// A path that nothing else has.
    func newPath(_ kind: String) -> String { "\(folder)/\(newName(kind))" }

    func park(_ data: ResumeData, _ file: Int, _ origin: String) {
        let tooMany = parked.withLock { parked in
            parked.append(Parked(data: data, file: file, origin: origin))
            return parked.count > 12 ? parked.removeFirst() : nil
        }
        tooMany?.data.discard()
    }

    /// A download to be continued at an origin.
    func unpark(_ origin: String) -> Parked? {
        parked.withLock { parked in
            guard let index = parked.firstIndex(where: { $0.origin == origin }) else { return nil }
            return parked.remove(at: index)
        }
    }

    func discardParked() {
        let all = parked.withLock { parked in
            defer { parked = [] }
            return parked
        }
        for parked in all { parked.data.discard() }
    }

    func note(_ session: Session) { sessions.withLock { $0.append(Held(session: session)) } }

    /// How many sessions live, and of their delegates, monitors, buses and evaluators; forgets the dead.
    var living: Int {
        sessions.withLock { sessions in
            sessions.removeAll { $0.session == nil }
            return sessions.count
        } + OrderWatch.alive.load(ordering: .relaxed) + EndWatch.alive.load(ordering: .relaxed)
            + MeterBus.alive.load(ordering: .relaxed) + Gatekeeper.alive.load(ordering: .relaxed)
    }
}

/// Writes a file; false when it cannot be.
@discardableResult
func writeFile(_ path: String, _ bytes: [UInt8], appending: Bool = false) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (appending ? O_APPEND : O_TRUNC), 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return write(descriptor, bytes, bytes.count) == bytes.count
}

/// A file's bytes, or nil when there is none.
func readFile(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var (bytes, chunk): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 256 << 10))
    while true {
        let count = read(descriptor, &chunk, chunk.count)
        if count <= 0 { return count == 0 ? bytes : nil }
        bytes += chunk[..<count]
    }
}
