import TestSupport
import Testing

@testable import ByteClubServer

@Suite("What requests under way rest on") struct StandingTableTests {
    private let laptop = Standing.device(token: "laptop")

    @Test("a request is looked at once after it began, and again only when accounts have changed")
    func economy() {
        var table = StandingTable<Int>()
        #expect(table.isEmpty && table.due(at: 1).isEmpty)
        table.begin(1, on: laptop)
        table.begin(2, on: laptop)
        #expect(table.due(at: 1) == [laptop])
        #expect(table.settle([laptop], lapsed: [], at: 1).isEmpty)
        #expect(table.due(at: 1).isEmpty)
        table.begin(3, on: .member(1))
        #expect(table.due(at: 1) == [.member(1)])
        #expect(table.due(at: 2) == [.member(1), laptop])
    }

    @Test("a look ends all requests of what is gone and no other, each once")
    func ending() {
        var table = StandingTable<Int>()
        for (request, standing) in [(1, laptop), (2, laptop), (3, .session("s")), (4, laptop)] {
            table.begin(request, on: standing)
        }
        table.end(4)
        #expect(table.settle([laptop, .session("s")], lapsed: [laptop], at: 1).sorted() == [1, 2])
        #expect(table.settle([laptop], lapsed: [laptop], at: 2).isEmpty)
        table.end(3)
        #expect(table.isEmpty)
    }

    @Test("a look that fails leaves all that was due")
    func failure() {
        var table = StandingTable<Int>()
        table.begin(1, on: laptop)
        #expect(table.due(at: 1) == table.due(at: 1))
    }

    @Test("in 1,000 random histories the first look after somebody is out ends their requests, and nobody else's")
    func histories() {
        for seed in 0..<UInt64(1000) {
            var history = StandingHistory(seed: seed)
            for _ in 0..<60 { history.step() }
            history.look(interrupted: false)
            #expect(history.fault == nil, "seed \(seed)")
        }
    }
}

/// A club in which people come and go while their requests wait, and a table that must end those of who is out.
private struct StandingHistory {
    private var random: SeededGenerator
    private var table = StandingTable<Int>()
    private var version: Int64 = 0
    /// What lets somebody in, by the member whose it is.
    private var valid: [Standing: Int64] = [:]
    private var gone: [Standing] = []
    private var waiting: [Int: Standing] = [:]
    private var lastNumber: Int64 = 0
    /// What went wrong first.
    private(set) var fault: String?

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        for _ in 0..<3 { addMember() }
    }

    mutating func step() {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: addMember()
        case 1: removeMember()
        case 2, 3: removeOne()
        case 4: if let request = pick(waiting.keys.sorted()) { end(request) }
        case 5, 6, 7: begin()
        default: look(interrupted: true)
        }
    }

    /// One look; with others at work between its steps when it is interrupted.
    mutating func look(interrupted: Bool) {
        let seen = version
        if interrupted { disturb() }
        let due = table.due(at: seen)
        if interrupted { disturb() }
        let before = waiting
        let lapsed = due.filter { valid[$0] == nil }
        if interrupted { disturb() }
        for request in table.settle(due, lapsed: lapsed, at: seen) {
            guard let standing = waiting.removeValue(forKey: request) else {
                fault = fault ?? "\(request) was ended twice"
                continue
            }
            if valid[standing] != nil { fault = fault ?? "\(standing) is valid, and its request was ended" }
        }
        for (request, standing) in before where lapsed.contains(standing) && waiting[request] != nil {
            fault = fault ?? "\(standing) was found to be gone, and its request goes on"
        }
        if interrupted { return }
        if let left = waiting.values.first(where: { valid[$0] == nil }) {
            fault = fault ?? "\(left) is gone, and its request goes on"
        }
        if !table.due(at: version).isEmpty { fault = fault ?? "a look leaves something to look at" }
    }

    private mutating func disturb() {
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: removeMember()
            case 1: removeOne()
            case 2: if let request = pick(waiting.keys.sorted()) { end(request) }
            default: begin()
            }
        }
    }

    private mutating func addMember() {
        let uid = number()
        valid[.member(uid)] = uid
        valid[.device(token: "\(number())")] = uid
        valid[.session("\(number())")] = uid
        valid[.link(.share, "\(number())")] = uid
    }

    /// Removes somebody with all that is theirs.
    private mutating func removeMember() {
        guard let uid = pick(Set(valid.values).sorted()) else { return }
        take(valid.filter { $0.value == uid }.map(\.key))
    }

    /// Shuts a device out, signs a browser out or takes a link back.
    private mutating func removeOne() {
        let single = valid.keys.filter { if case .member = $0 { false } else { true } }
        if let standing = pick(single.sorted { "\($0)" < "\($1)" }) { take([standing]) }
    }

    private mutating func take(_ standings: [Standing]) {
        for standing in standings { valid[standing] = nil }
        gone += standings.sorted { "\($0)" < "\($1)" }
        version += 1
    }

    /// Begins a request; of those who are out, too, since whoever let them in may have answered from memory.
    private mutating func begin() {
        let isLate = Int.random(in: 0..<4, using: &random) == 0
        let known = isLate ? gone : valid.keys.sorted { "\($0)" < "\($1)" }
        guard let standing = pick(known) else { return }
        let request = Int(number())
        table.begin(request, on: standing)
        waiting[request] = standing
    }

    private mutating func end(_ request: Int) {
        table.end(request)
        waiting[request] = nil
    }

    private mutating func number() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    private mutating func pick<T>(_ values: [T]) -> T? { values.randomElement(using: &random) }
}
