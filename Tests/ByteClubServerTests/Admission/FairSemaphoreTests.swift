import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct FairSemaphoreTests {
    private static let network = IPAddress("192.0.2.1")

    @Test(
        "nobody ever has more than a share, strangers more than their part, or all more than there is",
        arguments: 0..<20)
    func bounds(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let bounds = FairSemaphore.Bounds(total: 40, strangers: 15, member: 12, network: 7)
        let pool = FairSemaphore("places", bounds)
        let requesters = (0..<8).map { number in
            number < 4 ? Requester.member(Int64(number)) : .stranger(IPAddress("192.0.2.\(number)"))
        }
        var leases: [(requester: Requester, lease: FairSemaphore.Lease)] = []
        for _ in 0..<2000 {
            if let (_, lease) = leases.randomElement(using: &random), Int.random(in: 0..<5, using: &random) == 0 {
                lease.shrink(to: .random(in: -1...12, using: &random))
            } else if !leases.isEmpty, Bool.random(using: &random) {
                leases.remove(at: .random(in: leases.indices, using: &random))
            } else {
                let requester = requesters[.random(in: requesters.indices, using: &random)]
                if let lease = try? pool.take(.random(in: 1...12, using: &random), for: requester) {
                    leases.append((requester, lease))
                }
            }
            let amounts = Dictionary(grouping: leases, by: \.requester).mapValues {
                $0.reduce(0) { $0 + $1.lease.amount }
            }
            #expect(amounts.allSatisfy { $0.value <= bounds.share(of: $0.key) }, "seed \(seed)")
            #expect(amounts.reduce(0) { $0 + ($1.key.isStranger ? $1.value : 0) } <= bounds.strangers, "seed \(seed)")
            #expect(amounts.values.reduce(0, +) == pool.used && pool.used <= bounds.total, "seed \(seed)")
        }
        leases.removeAll()
        #expect(pool.used == 0)
    }

    @Test("a refusal tells whose share is used up, and when to come again")
    func refusals() throws {
        let pool = FairSemaphore("places", .init(total: 3, strangers: 1, member: 2, network: 1))
        let first = try pool.take(2, for: .member(1))
        let mine = #expect(throws: APIError.self) { try pool.take(for: .member(1)) }
        #expect(mine?.status == 429 && mine?.retryAfter != nil)
        let stranger = try pool.take(for: .stranger(Self.network))
        let all = #expect(throws: APIError.self) { try pool.take(for: .member(2)) }
        #expect(all?.status == 503 && all?.retryAfter != nil)
        #expect(pool.refusals == 2)
        withExtendedLifetime((first, stranger)) {}
    }

    @Test("one requester's long queue does not delay the turn of another")
    func turns() async throws {
        let pool = FairSemaphore(
            "places", .init(total: 1, strangers: 1, member: 1, network: 1, queue: 40, queueOfRequester: 20))
        var held: FairSemaphore.Lease? = try pool.take(for: .member(9))
        let (order, served) = AsyncStream<Int64>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (count, member) in [(10, Int64(1)), (1, 2), (1, 3)] {
                for _ in 0..<count {
                    let before = pool.waiting
                    group.addTask {
                        let lease = try await pool.wait(for: .member(member))
                        served.yield(member)
                        withExtendedLifetime(lease) {}
                    }
                    try await eventually("it waits") { pool.waiting == before + 1 }
                }
            }
            _ = held
            held = nil
            try await group.waitForAll()
        }
        served.finish()
        let members = await order.reduce(into: []) { $0.append($1) }
        #expect(members.prefix(3) == [1, 2, 3], "\(members)")
        #expect(members.count == 12 && pool.used == 0)
    }

    @Test("who is cancelled leaves the queue, and no place is lost", arguments: 0..<10)
    func cancellation(seed: Int) async throws {
        let pool = FairSemaphore(
            "places", .init(total: 3, strangers: 3, member: 2, network: 1, queue: 500, queueOfRequester: 500))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                var random = SeededGenerator(seed: UInt64(seed * 1000 + number))
                let (member, pause, isCancelled) = (
                    Int64.random(in: 0..<5, using: &random), Int.random(in: 0..<2000, using: &random),
                    Bool.random(using: &random)
                )
                group.addTask {
                    let task = Task {
                        let lease = try await pool.wait(for: .member(member))
                        try? await Task.sleep(for: .microseconds(pause / 10))
                        withExtendedLifetime(lease) {}
                    }
                    if isCancelled {
                        try? await Task.sleep(for: .microseconds(pause))
                        task.cancel()
                    }
                    _ = await task.result
                }
            }
        }
        #expect(pool.used == 0 && pool.waiting == 0, "seed \(seed)")
    }

    @Test("the queue has an end, for each requester and for all")
    func queues() async throws {
        let pool = FairSemaphore(
            "places", .init(total: 1, strangers: 1, member: 1, network: 1, queue: 3, queueOfRequester: 2))
        var held: FairSemaphore.Lease? = try pool.take(for: .member(9))
        await withTaskGroup(of: Void.self) { group in
            for member in [Int64(1), 1, 2] {
                group.addTask { _ = try? await pool.wait(for: .member(member)) }
            }
            try? await eventually("three wait") { pool.waiting == 3 }
            let own = await #expect(throws: APIError.self) { _ = try await pool.wait(for: .member(1)) }
            #expect(own?.status == 429)
            let all = await #expect(throws: APIError.self) { _ = try await pool.wait(for: .member(3)) }
            #expect(all?.status == 503)
            _ = held
            held = nil
        }
        #expect(pool.used == 0 && pool.waiting == 0)
    }
}
