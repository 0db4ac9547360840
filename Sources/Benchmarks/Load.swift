import Glibc
import TestSupport

/// Many clients with one connection and one running request each, driven by one thread with `poll`.
///
/// It does as little work as possible, since it shares the processors with the server.
struct Load: Sendable {
    /// The result of a load.
    struct Result: Sendable {
        /// Seconds from the first request to the last answer.
        var seconds = 0.0
        /// Processor seconds of the generator itself.
        var processor = 0.0
        /// Milliseconds from each request to the end of its answer, in order of the answers.
        var times: [Double] = []
        /// The bytes of all answers.
        var received = 0

        /// The time that a share of the requests stayed under.
        func percentile(_ share: Double) -> Double { Measurement.percentile(share, of: times) }
    }

    /// Where the server listens, on loopback.
    let port: UInt16
    /// How many connections there are.
    let connections: Int
    /// How many requests all of them send together.
    let count: Int
    /// The statuses that are right.
    let statuses: Set<Int>
    /// The whole text of a request, by its number.
    let request: @Sendable (Int) -> [UInt8]

    /// Sends all requests, on a thread of its own.
    func run() async throws -> Result {
        try await BackgroundThread.run { Swift.Result { try drive() } }.get()
    }

    /// The same with a server's processor time: requests a second, half and 99 % of them in milliseconds, milliseconds of
    /// the server's processors for each, and the percentage of a core that the generator used.
    func figures(of server: pid_t) async throws -> [Double] {
        let before = ProcessorTime.seconds(of: server)
        let result = try await run()
        let processor = ProcessorTime.seconds(of: server) - before
        return [
            Double(count) / result.seconds, result.percentile(0.5), result.percentile(0.99),
            processor / Double(count) * 1000, result.processor / result.seconds * 100,
        ]
    }

    private func drive() throws -> Result {
        var clients: [LoadClient] = []
        defer { for client in clients { client.end() } }
        for _ in 0..<min(connections, count) { clients.append(try LoadClient(port: port)) }
        var polls = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        var scratch = [UInt8](repeating: 0, count: 256 << 10)
        var result = Result()
        result.times.reserveCapacity(count)
        var sent = 0
        let processor = ProcessorTime.ofThisThread
        let start = ContinuousClock.now
        for index in clients.indices {
            try clients[index].send(request(sent))
            sent += 1
        }
        while result.times.count < count {
            guard unsafe poll(&polls, nfds_t(polls.count), 60_000) > 0 else {
                throw Stopwatch.Failure(description: "the server does not answer any more")
            }
            for index in clients.indices where polls[index].revents != 0 {
                guard let answer = try clients[index].receive(into: &scratch) else { continue }
                guard statuses.contains(answer.status) else {
                    throw Stopwatch.Failure(description: "answer \(result.times.count) has status \(answer.status)")
                }
                result.times.append(answer.seconds * 1000)
                result.received += answer.bytes
                if sent < count {
                    try clients[index].send(request(sent))
                    sent += 1
                }
            }
        }
        result.seconds = Stopwatch.seconds(since: start)
        result.processor = ProcessorTime.ofThisThread - processor
        return result
    }
}

/// Figures of several rounds by contestant, in the order in which they first came.
struct Series {
    /// The contestants.
    private(set) var names: [String] = []
    private var rounds: [String: [[Double]]] = [:]

    /// Adds a contestant's figures of one round.
    mutating func add(_ name: String, _ figures: [Double]) {
        if rounds[name] == nil { names.append(name) }
        rounds[name, default: []].append(figures)
    }

    /// The median of each figure.
    func median(_ name: String) -> [Double] {
        let runs = rounds[name] ?? []
        return (runs.first ?? []).indices.map { column in Measurement.median(runs.map { $0[column] }) }
    }

    /// The cells of a contestant: some of the medians, each with so many decimal places.
    func cells(_ name: String, _ figures: [(index: Int, digits: Int)]) -> [String] {
        let medians = median(name)
        return figures.map { Table.number(medians[$0.index], $0.digits) }
    }
}

/// A server that serves as fast as it can, with one member.
struct LoadedServer: Sendable {
    let server: ServerProcess
    /// The member's token.
    let token: String

    /// Starts a server with an empty folder that logs no requests and limits no rate.
    static func start(in folder: String, arguments: [String] = []) async throws -> LoadedServer {
        let server = try await ServerProcess(
            data: folder + "/data", arguments: ["--log-level", "warning", "--member-rate", "0"] + arguments)
        return LoadedServer(server: server, token: try await server.addMember("ann"))
    }

    /// The process.
    var pid: pid_t {
        get throws {
            guard let process = server.process else { throw Stopwatch.Failure(description: "the server has ended") }
            return process.pid
        }
    }

    /// A request for a path of the API.
    func get(_ path: String) -> [UInt8] { RawRequest.get("/1/" + path, token: token) }

    /// A request that puts a file.
    func put(_ path: String, _ body: [UInt8]) -> [UInt8] {
        RawRequest.send("PUT", "/1/files_put/auto/" + path, token: token, body: body)
    }

    /// Requests of some clients at once.
    func load(
        _ count: Int, clients: Int = 1, status: Int = 200, request: @escaping @Sendable (Int) -> [UInt8]
    ) -> Load {
        Load(port: server.port, connections: clients, count: count, statuses: [status], request: request)
    }
}
