import ByteClubCore
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import ByteClubServer

/// A server in this process on a free loopback port, with one member, for the length of a test.
struct TestServer: Sendable {
    let port: UInt16
    let member: NewMember
    let store: SQLiteStore
    let log: LogLines
    let directory: String
    let group: ServiceGroup
    let club: ClubServer

    var bearer: String { "Authorization: Bearer \(member.token)" }

    /// Starts a server, lets a test use it, and stops it in order.
    ///
    /// With a clock, the server has no other time than that.
    static func run(
        clock: Clock? = nil, history: HistorySettings = HistorySettings(),
        adjusting adjust: (inout ClubConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        let address = try #require(ListenAddress("127.0.0.1:0"))
        var configuration = ClubConfiguration(address: address, directory: folder.path + "/data")
        if let clock { configuration.settings.now = { clock.now.seconds } }
        adjust(&configuration)
        let log = LogLines()
        let format = configuration.logFormat
        let logger = Logger(label: "test") { _ in LineLog(level: .info, format: format) { log.add($0) } }
        let now = { @Sendable in clock?.now ?? APIDate(seconds: SystemTime.seconds()) }
        let uptime = { @Sendable in clock?.uptime ?? Uptime.now() }
        let store = try SQLiteStore(
            directory: configuration.directory, mode: .server, settings: history, now: now, uptime: uptime,
            logger: logger)
        let member = try await store.addMember(name: "Ann Bell", role: nil, oauth1: true)
        let directory = configuration.directory
        try await serve(store, configuration, logger) { port, group, club in
            try await body(
                TestServer(
                    port: port, member: member, store: store, log: log, directory: directory, group: group, club: club))
        }
        try store.close()
        withExtendedLifetime(folder) {}
    }

    /// Serves any store for the length of a test, and hands over the server's port.
    static func serve(
        _ store: any ClubStore, _ configuration: ClubConfiguration, _ logger: Logger,
        _ body: @escaping @Sendable (UInt16, ServiceGroup, ClubServer) async throws -> Void
    ) async throws {
        let (urls, listening) = AsyncStream<String>.makeStream()
        let server = try ClubServer(configuration: configuration, store: store, logger: logger) { url in
            listening.yield(url)
        }
        let group = ServiceGroup(configuration: .init(services: [.init(service: server)], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { listening.finish() }
                try await group.run()
            }
            var starts = urls.makeAsyncIterator()
            let url = try #require(await starts.next(), "the server did not start")
            let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
            do {
                try await body(port, group, server)
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// Sends one request on a connection of its own.
    func send(
        _ line: String, _ fields: [String]? = nil, body: [UInt8] = [], length: Bool = true
    ) async throws -> RawMessage {
        var fields = fields ?? [bearer]
        if length, !body.isEmpty || line.hasPrefix("PUT") || line.hasPrefix("POST") {
            fields.append("Content-Length: \(body.count)")
        }
        return try #require(await RawExchange.send(line, fields: fields, body: body, port: port), "no answer")
    }

    func get(_ target: String) async throws -> RawMessage { try await send("GET \(target)") }

    func put(_ target: String, _ text: String = "x") async throws -> RawMessage {
        try await send("PUT \(target)", body: Array(text.utf8))
    }

    func post(_ target: String, _ form: String = "") async throws -> RawMessage {
        try await send(
            "POST \(target)", [bearer, "Content-Type: application/x-www-form-urlencoded"], body: Array(form.utf8))
    }

    /// Adds a member and tells the header of the token.
    func add(_ name: String, _ role: Role) async throws -> String {
        "Authorization: Bearer \(try await store.addMember(name: name, role: role, oauth1: false).token)"
    }

    /// Stores a file and tells its metadata.
    @discardableResult
    func store(_ path: String, _ text: String = "x") async throws -> Metadata {
        let answer = try await put("/1/files_put/auto\(path)", text)
        #expect(answer.status == 200)
        return try answer.decoded()
    }
}

/// The lines that a server wrote to its log.
final class LogLines: Sendable {
    private let state = Mutex<[String]>([])

    func add(_ line: String) { state.withLock { $0.append(line) } }

    var all: [String] { state.withLock { $0 } }

    /// All lines, once there are so many: that of a request is written after its answer.
    func lines(atLeast count: Int) async throws -> [String] {
        try await eventually("\(count) lines in the log") { all.count >= count }
        return all
    }

    /// The first line that matches, waiting for it; nil after a minute.
    func line(_ matches: (String) -> Bool) async -> String? {
        for _ in 0..<6000 {
            if let line = all.first(where: matches) { return line }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return nil
    }
}

extension RawMessage {
    /// The body as a value of the wire.
    func decoded<Value: JSONReadable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONReader.read(from: Array(body))
    }

    /// The text of a member of the body's object.
    func text(_ name: String) throws -> String {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        return try #require(object[name] as? String)
    }

    /// The names in the body's object, in order.
    func names() throws -> [String] {
        let object = try JSONSerialization.jsonObject(with: Data(body))
        return try #require(object as? [String: Any]).keys.sorted()
    }

    /// The text of a refusal; with a parameter at fault, `parameter: text`.
    func refusal() throws -> String {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        if let text = object["error"] as? String { return text }
        let faults = try #require(object["error"] as? [String: String])
        return faults.map { "\($0): \($1)" }.joined()
    }
}
