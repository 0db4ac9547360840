import Testing

@testable import ByteClubHTTP

struct AdmissionTests {
    private static func origin(_ port: Int) -> Origin { Origin(scheme: .http, host: "a", port: port) }

    @Test("with one task per origin they run one after another, in the order they came")
    func serial() {
        let admission = Admission<Int>(perOrigin: 1, total: 64)
        for number in 1...3 { admission.enqueue(number, origin: Self.origin(1)) }
        #expect(admission.next()?.element == 1)
        #expect(admission.next() == nil)
        admission.release(Self.origin(1))
        #expect(admission.next()?.element == 2)
        admission.release(Self.origin(1))
        #expect(admission.next()?.element == 3)
        #expect(admission.waiting == 0)
    }

    @Test("origins take turns, so that a long queue at one does not hold the other up")
    func turns() {
        let admission = Admission<Int>(perOrigin: 6, total: 64)
        for number in 1...3 { admission.enqueue(number, origin: Self.origin(1)) }
        admission.enqueue(9, origin: Self.origin(2))
        #expect([admission.next(), admission.next(), admission.next()].map { $0?.element } == [1, 9, 2])
    }

    @Test("one whose origin is held waits, whatever ends meanwhile, and others go on")
    func held() {
        let admission = Admission<Int>(perOrigin: 1, total: 64)
        for number in 1...3 { admission.enqueue(number, origin: Self.origin(1)) }
        #expect(admission.next()?.element == 1)
        admission.hold(Self.origin(1))
        admission.release(Self.origin(1))
        admission.enqueue(4, origin: Self.origin(1), first: true)
        admission.enqueue(9, origin: Self.origin(2))
        #expect(admission.next()?.element == 9)
        #expect(admission.next() == nil)
        admission.letGo(Self.origin(1))
        #expect(admission.next()?.element == 4)
        admission.release(Self.origin(1))
        #expect(admission.next()?.element == 2)
    }

    @Test("an origin is held although it was next, and although nothing waits there yet")
    func heldEarly() {
        let admission = Admission<Int>(perOrigin: 1, total: 64)
        admission.enqueue(1, origin: Self.origin(1))
        admission.hold(Self.origin(1))
        // More lanes than are kept when they are idle.
        for port in 2...40 {
            admission.hold(Self.origin(port))
            admission.enqueue(port, origin: Self.origin(port + 100))
        }
        while let turn = admission.next() {
            #expect(turn.element != 1)
            admission.release(turn.origin)
        }
        for port in 2...40 { admission.enqueue(port, origin: Self.origin(port)) }
        #expect(admission.next() == nil)
        for port in 1...40 { admission.letGo(Self.origin(port)) }
        var all: [Int] = []
        while let turn = admission.next() { all.append(turn.element) }
        #expect(all == Array(1...40))
    }

    @Test("one that had its turn before goes ahead of the others")
    func first() {
        let admission = Admission<Int>(perOrigin: 1, total: 64)
        admission.enqueue(1, origin: Self.origin(1))
        admission.enqueue(2, origin: Self.origin(1), first: true)
        #expect(admission.next()?.element == 2)
    }

    @Test("who is queued anew has another ticket, and each turn is given back where it was taken")
    func tickets() throws {
        let admission = Admission<Int>(perOrigin: 1, total: 64)
        let old = admission.enqueue(1, origin: Self.origin(1))
        let present = admission.enqueue(1, origin: Self.origin(1), priority: .high)
        admission.enqueue(2, origin: Self.origin(1), priority: .low)
        let turn = admission.next()
        let first = try #require(turn)
        #expect(first.ticket == present && first.origin == Self.origin(1))
        admission.release(first.origin)
        // It has moved to another origin meanwhile, but its old slot is released all the same.
        admission.enqueue(1, origin: Self.origin(2))
        let turns = [admission.next(), admission.next()].compactMap { $0 }
        let stale = try #require(turns.first { $0.ticket == old })
        admission.release(stale.origin)
        #expect(admission.next()?.element == 2)
    }

    @Test("the more urgent go first, each in the order they came")
    func priorities() {
        let admission = Admission<Int>(perOrigin: 64, total: 64)
        for (number, priority) in [(1, SessionTask.Priority.low), (2, .normal), (3, .high), (4, .normal), (5, .high)] {
            admission.enqueue(number, origin: Self.origin(1), priority: priority)
        }
        #expect((0..<3).compactMap { _ in admission.next()?.element } == [3, 5, 2])
    }

    @Test("of eight turns one goes to a normal and one to a low task, however many urgent ones come")
    func starvation() {
        let admission = Admission<(priority: SessionTask.Priority, number: Int)>(perOrigin: 1, total: 64)
        var turns: [SessionTask.Priority: Int] = [:]
        for number in 0..<100 {
            admission.enqueue((.low, number), origin: Self.origin(1), priority: .low)
            admission.enqueue((.normal, number), origin: Self.origin(1), priority: .normal)
        }
        for number in 0..<80 {
            admission.enqueue((.high, number), origin: Self.origin(1), priority: .high)
            if let (priority, number) = admission.next()?.element {
                #expect(number == turns[priority, default: 0])
                turns[priority, default: 0] += 1
            }
            admission.release(Self.origin(1))
        }
        #expect(turns == [.high: 60, .normal: 10, .low: 10])
    }

    @Test("neither count is ever exceeded and nobody is forgotten, in 50 000 random steps", arguments: [1, 2, 3])
    func random(seed: UInt64) {
        var random = SplitMix(state: seed)
        let admission = Admission<(id: Int, port: Int)>(perOrigin: 3, total: 8)
        var running: [Int: Int] = [:]
        var active: [Int] = []
        var waiting = Array(repeating: [Int](), count: 6)
        for step in 0..<50_000 {
            if Bool.random(using: &random), step < 40_000 {
                let port = Int.random(in: 1...5, using: &random)
                admission.enqueue((step, port), origin: Self.origin(port))
                waiting[port].append(step)
            } else if let port = active.popLast() {
                running[port, default: 0] -= 1
                admission.release(Self.origin(port))
            }
            while let (id, port) = admission.next()?.element {
                #expect(waiting[port].first == id)
                waiting[port].removeFirst()
                running[port, default: 0] += 1
                active.insert(port, at: Int.random(in: 0...active.count, using: &random))
            }
            #expect(active.count <= 8 && running.values.allSatisfy { $0 <= 3 })
            let mayRun = (1...5).contains { !waiting[$0].isEmpty && running[$0, default: 0] < 3 }
            #expect(!mayRun || active.count == 8)
        }
        while !active.isEmpty || waiting.contains(where: { !$0.isEmpty }) {
            if let port = active.popLast() {
                running[port, default: 0] -= 1
                admission.release(Self.origin(port))
            }
            while let (_, port) = admission.next()?.element {
                waiting[port].removeFirst()
                active.append(port)
            }
        }
        #expect(admission.waiting == 0 && admission.active == 0)
    }
}
