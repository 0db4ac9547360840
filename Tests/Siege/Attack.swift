import Glibc
import Synchronization
import TestSupport

/// A repeated attack, on connections from one address and from sixty.
struct Attack: Sendable {
    /// How an attacker reads answers.
    enum Reading: Equatable, Sendable {
        /// At once.
        case everything
        /// So many bytes a second, just above the rate below which the server closes the connection.
        case drops(Int)
        /// Not at all.
        case nothing
    }

    /// Addresses that attacks come from, besides 127.0.0.1.
    static let crowd = (2...61).map { LoopbackAddress(0, UInt8($0)) }

    /// Its name in the report.
    let name: String
    /// The role that it needs.
    let attacker: String
    /// The most connections at once from 127.0.0.1.
    var fromOne = 0
    /// The most connections at once from the sixty addresses together.
    var fromSixty = 0
    /// Connections opened a second, so that the attackers leave the processors to the server.
    var pace: Double
    /// How many are opened together.
    var volley = 1
    /// The most connections in the whole run, to bound the storage that it uses.
    var total = Int.max
    var reading = Reading.everything
    /// Bytes sent each second after the request.
    var trickle = 0
    /// Seconds after which the attacker hangs up, once the request is sent; nil when the server has to end it.
    var patience: Double?
    /// The bytes to send, by the number of the connection.
    let request: @Sendable (Int) -> [UInt8]
}

/// The results of an attack.
struct AttackTally: Sendable {
    /// Connections opened.
    var opened = 0
    /// The most that were open at once.
    var most = 0
    /// Bytes sent.
    var sent = 0
    /// First answers by status.
    var answers: [Int: Int] = [:]
    /// Connections that the server closed without an answer.
    var dropped = 0
    /// Connections that the attacker left before an answer.
    var abandoned = 0
    /// Connections that the system refused to open.
    var unopened = 0

    /// Whether the server has had to do with it.
    var hasReached: Bool { sent > 0 && (!answers.isEmpty || dropped + abandoned > 0) }
    /// Answers that served the attacker's request.
    var served: Int { answers.filter { $0.key < 400 }.values.reduce(0, +) }
    /// Refusals by status, as in `413: 20, 503: 4`.
    var refusals: String {
        answers.filter { $0.key >= 400 }.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            .joined(separator: ", ")
    }
}

/// One attack under way.
private struct AttackLine {
    let attack: Attack
    private(set) var tally = AttackTally()
    private(set) var connections: [(connection: AttackConnection, isOne: Bool)] = []
    private var credit: Double

    init(_ attack: Attack) {
        self.attack = attack
        credit = Double(attack.volley)
    }

    mutating func step(_ events: ArraySlice<pollfd>, at now: Double, using scratch: inout [UInt8]) {
        for (index, event) in zip(connections.indices, events) {
            connections[index].connection.step(attack, event.revents, at: now, using: &scratch)
        }
        for (connection, _) in connections where connection.end != nil { take(connection, using: &scratch) }
        connections.removeAll { $0.connection.end != nil }
    }

    mutating func open(after seconds: Double, at now: Double, port: UInt16) {
        credit = min(credit + attack.pace * seconds, Double(max(attack.volley, Int(attack.pace))))
        guard credit >= Double(attack.volley) else { return }
        while credit >= 1, tally.opened < attack.total {
            let ones = connections.count { $0.isOne }
            let isOne = ones < attack.fromOne && (tally.opened % 2 == 0 || connections.count - ones >= attack.fromSixty)
            guard isOne || connections.count - ones < attack.fromSixty else { return }
            credit -= 1
            let source = isOne ? LoopbackAddress.server : Attack.crowd[tally.opened % Attack.crowd.count]
            let request = attack.request(tally.opened)
            guard let connection = AttackConnection(attack, port: port, from: source, request, at: now) else {
                tally.unopened += 1
                return
            }
            tally.opened += 1
            connections.append((connection, isOne))
            tally.most = max(tally.most, connections.count)
        }
    }

    mutating func end(using scratch: inout [UInt8]) {
        for (connection, _) in connections { take(connection, using: &scratch) }
        connections = []
    }

    /// Closes a connection and counts its result.
    private mutating func take(_ connection: AttackConnection, using scratch: inout [UInt8]) {
        var connection = connection
        connection.close(using: &scratch)
        tally.sent += connection.sent
        switch (connection.status, connection.end) {
        case (let status?, _): tally.answers[status, default: 0] += 1
        case (nil, .closed): tally.dropped += 1
        case (nil, _): tally.abandoned += 1
        }
    }
}

/// All attacks at once, on one thread that looks at its connections twenty times a second.
struct AttackForce: Sendable {
    /// The results of all attacks.
    struct Outcome: Sendable {
        /// Each attack with its results.
        var tallies: [(attack: Attack, tally: AttackTally)] = []
        /// Processor seconds that the attackers themselves took.
        var processor = 0.0
        /// The most connections that all of them had at once.
        var most = 0
    }

    let attacks: [Attack]
    let port: UInt16

    /// Attacks from now on for so many seconds; blocks.
    func run(for seconds: Double) -> Outcome {
        var lines = attacks.map(AttackLine.init)
        var outcome = Outcome()
        var scratch = [UInt8](repeating: 0, count: 64 << 10)
        let start = ContinuousClock.now
        let processor = ProcessorTime.ofThisThread
        var last = 0.0
        while last < seconds {
            usleep(50_000)
            var polls = lines.flatMap { line in line.connections.map { $0.connection.interest(line.attack) } }
            outcome.most = max(outcome.most, polls.count)
            _ = unsafe poll(&polls, nfds_t(polls.count), 0)
            let now = Stopwatch.seconds(since: start)
            var first = 0
            for index in lines.indices {
                let count = lines[index].connections.count
                lines[index].step(polls[first..<(first + count)], at: now, using: &scratch)
                lines[index].open(after: now - last, at: now, port: port)
                first += count
            }
            last = now
        }
        for index in lines.indices { lines[index].end(using: &scratch) }
        outcome.tallies = lines.map { ($0.attack, $0.tally) }
        outcome.processor = ProcessorTime.ofThisThread - processor
        return outcome
    }
}
