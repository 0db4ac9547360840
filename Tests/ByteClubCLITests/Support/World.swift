import ByteClubCore
import ByteClubRemotes
public import ByteClubSync
import MemoryRemote
import Synchronization
import TestSupport

@testable public import ByteClubCLI

extension SyncEngine: MirrorEngine {}

/// A world for commands: a server in memory, outputs that are kept, a home of its own, and an editor that is a closure.
final class World: Sendable {
    let server = MemoryRemote()
    let home: TemporaryDirectory
    private let outputs = Mutex<(out: [UInt8], err: [UInt8])>(([], []))
    private let opened = Mutex<[(login: Login, lane: Connector.Lane)]>([])

    private let disabled = Mutex<[String]>([])

    init() throws { home = try TemporaryDirectory() }

    var out: String { outputs.withLock { String(decoding: $0.out, as: UTF8.self) } }
    var err: String { outputs.withLock { String(decoding: $0.err, as: UTF8.self) } }
    var outBytes: [UInt8] { outputs.withLock { $0.out } }
    /// The tokens that were made useless.
    var disabledTokens: [String] { disabled.withLock { $0 } }
    var connections: [(login: Login, lane: Connector.Lane)] { opened.withLock { $0 } }

    var directories: Directories { Directories(environment: environment) }
    var environment: [String: String] {
        ["HOME": home.path, "BYTECLUB_SERVER": "http://127.0.0.1:1", "BYTECLUB_TOKEN": "secret-token"]
    }

    func context(
        _ more: [String: String] = [:], input: String = "", terminal: Terminal = .none, remote: (any Remote)? = nil,
        editor: @escaping @Sendable (String, String) throws -> Int32 = { _, _ in 0 },
        interrupts: Interrupts = .none
    ) -> Context {
        let remote = remote ?? server
        return Context(
            environment: environment.merging(more) { $1 },
            output: Output { bytes in self.outputs.withLock { $0.out += bytes } },
            diagnostics: Output { bytes in self.outputs.withLock { $0.err += bytes } },
            input: Input(readAll: { _ in Array(input.utf8) }, readSecret: { _ in input }),
            terminal: terminal, uptime: { .seconds(1) }, calendar: { CalendarTime.utc($0) },
            connector: Connector(
                open: { login, lane in
                    self.opened.withLock { $0.append((login, lane)) }
                    return remote
                }, token: { _, code, _ in "token-for-\(code)" },
                disable: { login in
                    _ = try await self.server.account()
                    self.disabled.withLock { $0.append(login.token) }
                }, probe: { _ in ServerProbe(status: 401, date: nil, body: [], seconds: 0) },
                shortCode: { _, _ in nil }, shortCodeAnswer: { _, _, _ in .over }),
            editor: Editor(run: editor), interrupts: interrupts,
            network: NetworkCost { SwitchedNetwork(isMetered: false).states() },
            engine: SyncEngine.self, completionPatience: .seconds(3600),
            serverPatience: .seconds(3600))
    }

    /// Runs one command line in a world of this home.
    @discardableResult
    func run(_ arguments: String..., in context: Context? = nil) async -> ByteClubCLI.ExitStatus {
        outputs.withLock { $0 = ([], []) }
        return await ByteClub.run(arguments, in: context ?? self.context())
    }

    /// Stores a note or photo as another member would.
    @discardableResult
    func put(_ text: String, _ path: String) async throws -> Metadata {
        try await server.put(
            .bytes(Array(text.utf8)), at: RemotePath(path), condition: .overwrite, policy: .fail, progress: nil)
    }

    /// The text on the server at a path; nil when there is none.
    func text(_ path: String) async throws -> String? {
        do {
            let content = try await server.content(at: RemotePath(path), revision: nil, range: nil, limit: .max)
            return String(decoding: content.bytes, as: UTF8.self)
        } catch let error as RemoteError {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    /// The names of the live notes.
    func notes() async throws -> [String] {
        try await FolderListing.files(of: RemotePath("/byteclub"), server).entries.map(\.path.name)
    }
}

extension FolderListing {
    /// The files directly in a folder, sorted by name; none when there is no such folder.
    static func files(of folder: RemotePath, _ remote: any Remote) async throws -> EntryList {
        let entries = try await FolderListing().entries(of: folder, remote) ?? []
        return EntryList(entries: ListingOrder.name.sorted(entries, below: folder), folder: folder)
    }
}
