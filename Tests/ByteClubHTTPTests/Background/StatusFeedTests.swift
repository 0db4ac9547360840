import TestSupport
import Testing

@testable import ByteClubHTTP

/// A daemon's tasks, the messages on their way to a program, and the program's feed.
private struct World {
    enum Message {
        case began
        case status(BackgroundStatus)
        case gone(BackgroundTask.ID)
        case caughtUp
        case noted(BackgroundTask.ID, UInt64)
    }

    struct End: Hashable {
        var id: BackgroundTask.ID
        var sequence: UInt64
    }

    var random: SeededGenerator
    var recorded: [BackgroundStatus] = []
    var sequence: UInt64 = 0
    var wire: [Message] = []
    var feed = StatusFeed(isTaking: true)
    /// Ends that were taken, until the program gets the daemon's confirmation.
    var takings: [End] = []
    /// How many of them the current connection has carried to the daemon.
    var notedCount = 0
    var told: [End: Int] = [:]
    var reader: UInt64 = 1
    var caughtUp = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        connect()
    }

    mutating func act() {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<8: add()
        case ..<20:
            change {
                !$0.isFinished
            } by: {
                $0.bytes += 1
            }
        case ..<30:
            change {
                !$0.isFinished
            } by: {
                $0.state = .done
            }
        case ..<36:
            change {
                !$0.isFinished
            } by: {
                $0.state = .failed
            }
        case ..<42:
            change {
                $0.state == .failed
            } by: {
                $0.state = .waiting
            }
        case ..<44: forget()
        case ..<66: deliver()
        case ..<76: note()
        case ..<79: connect()
        case ..<97: read()
        case ..<98: kill()
        default:
            reader += 1
            caughtUp = 0
        }
    }

    mutating func add() {
        var status = BackgroundStatus(
            .init(number: random.next()), "photos", BackgroundRequest(.custom(kind: "test", payload: [])), at: 1)
        sequence += 1
        status.sequence = sequence
        recorded.append(status)
        wire.append(.status(status))
    }

    /// Another program changes a task, perhaps one whose end was just taken.
    mutating func change(
        where isMeant: (BackgroundStatus) -> Bool, by change: (inout BackgroundStatus) -> Void
    ) {
        guard let index = recorded.indices.filter({ isMeant(recorded[$0]) }).randomElement(using: &random) else {
            return
        }
        change(&recorded[index])
        sequence += 1
        recorded[index].sequence = sequence
        wire.append(.status(recorded[index]))
    }

    mutating func forget() {
        guard let index = recorded.indices.filter({ recorded[$0].isFinished }).randomElement(using: &random) else {
            return
        }
        wire.append(.gone(recorded.remove(at: index).id))
    }

    mutating func deliver() {
        guard !wire.isEmpty else { return }
        switch wire.removeFirst() {
        case .began: feed.beginReplay()
        case .status(let status): _ = feed.add(status)
        case .gone(let id): feed.remove(id)
        case .caughtUp: _ = feed.endReplay()
        case .noted(let id, let sequence):
            feed.confirm([TakenEnd(id: id, sequence: sequence)])
            takings.removeFirst()
            notedCount -= 1
        }
    }

    /// The daemon receives an end that was taken.
    mutating func note() {
        guard notedCount < takings.count else { return }
        let taking = takings[notedCount]
        notedCount += 1
        if let index = recorded.firstIndex(where: {
            $0.id == taking.id && $0.isFinished && $0.sequence <= taking.sequence
        }) {
            recorded.remove(at: index)
            wire.append(.gone(taking.id))
        }
        wire.append(.noted(taking.id, taking.sequence))
    }

    /// A new connection begins, and messages on their way are lost.
    mutating func connect() {
        wire = [.began] + recorded.map { .status($0) } + [.caughtUp]
        notedCount = 0
    }

    /// The program is killed and started again.
    mutating func kill() {
        feed = StatusFeed(isTaking: true)
        takings = []
        for status in recorded { told[End(id: status.id, sequence: status.sequence)] = nil }
        caughtUp = 0
        connect()
    }

    mutating func read() {
        feed.begin(reader)
        if let end = feed.takeHandled() { takings.append(End(id: end.id, sequence: end.sequence)) }
        switch feed.next() {
        case .finished(let status): told[End(id: status.id, sequence: status.sequence), default: 0] += 1
        case .caughtUp: caughtUp += 1
        case .changed, nil: break
        }
    }

    mutating func settle() {
        for _ in 0..<3 * (recorded.count + wire.count + takings.count + 2) {
            while !wire.isEmpty || notedCount < takings.count {
                deliver()
                note()
            }
            read()
        }
    }
}

@Suite("News of background tasks for a reader")
struct StatusFeedTests {
    @Test("each end is reported once, whatever happens to connections, and none is left")
    func once() {
        for seed in UInt64(1)...400 {
            var world = World(seed: seed)
            for _ in 0..<200 { world.act() }
            world.settle()
            let isOnce = world.told.values.allSatisfy { $0 == 1 }
            let isLeft = world.recorded.contains { $0.isFinished }
            #expect(isOnce && !isLeft, "seed \(seed)")
            #expect(Set(world.feed.latest.keys) == Set(world.recorded.map(\.id)), "seed \(seed)")
            #expect(world.feed.takenEnds.isEmpty && world.caughtUp == 1, "seed \(seed)")
        }
    }

    @Test("a slow reader gets an end once, though its task is removed meanwhile", arguments: [true, false])
    func removed(isTaking: Bool) {
        func status(_ state: BackgroundStatus.State, _ id: BackgroundTask.ID, _ sequence: UInt64) -> BackgroundStatus {
            var status = BackgroundStatus(id, "photos", BackgroundRequest(.custom(kind: "test", payload: [])), at: 0)
            (status.state, status.sequence) = (state, sequence)
            return status
        }
        typealias ID = BackgroundTask.ID
        let (done, running, known) = (ID(number: 1), ID(number: 2), ID(number: 3))
        var feed = StatusFeed(isTaking: isTaking)
        func news() -> [BackgroundEvent] { Array(sequence(state: ()) { _ in feed.next() }) }
        feed.begin(1)
        #expect(news() == [.caughtUp])
        _ = feed.add(status(.done, known, 1))
        #expect(news() == [.finished(status(.done, known, 1))])
        for (state, id, sequence) in [(.running, done, 2), (.running, running, 3), (.done, done, 4)]
            as [(BackgroundStatus.State, BackgroundTask.ID, UInt64)]
        {
            _ = feed.add(status(state, id, sequence))
        }
        for id in [done, running, known, done] { feed.remove(id) }
        #expect(feed.latest.isEmpty)
        #expect(news() == [.finished(status(.done, done, 4))])
        let taken = feed.takeHandled()
        #expect(taken == nil && feed.takenEnds.isEmpty)
    }

    @Test("a reader that takes no results leaves every end")
    func looking() {
        var feed = StatusFeed(isTaking: false)
        feed.begin(1)
        var status = BackgroundStatus(.random(), "photos", BackgroundRequest(.custom(kind: "test", payload: [])), at: 0)
        status.state = .done
        _ = feed.add(status)
        let events = [feed.next(), feed.next()]
        let taken = feed.takeHandled()
        #expect(events == [.caughtUp, .finished(status)] && taken == nil && feed.latest.count == 1)
    }
}
