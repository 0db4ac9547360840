import Testing

@testable import ByteClubHTTP

/// An exchange that counts the requested ticks.
private struct TickedExchange {
    var exchange: DaemonExchange
    /// The ticks that have not passed yet.
    var ticks = 0

    /// Handles an event at the given time, or at 0.
    mutating func handle(
        _ event: DaemonExchange.Event, at now: Moment = Moment(nanoseconds: 0)
    ) -> [DaemonExchange.Step] {
        if case .tick = event { ticks -= 1 }
        let steps = exchange.handle(event, at: now)
        ticks += steps.count { if case .tick = $0 { true } else { false } }
        return steps
    }
}

@Suite("Calls to a daemon that ends and starts again")
struct DaemonExchangeTests {
    private static let hello = DaemonExchange.Event.received(
        .answer(number: 1, .hello(version: DaemonFrame.version, process: 7)))
    private static let taken = DaemonExchange.Event.received(.answer(number: 2, .done))

    /// The steps as text.
    private func words(_ steps: [DaemonExchange.Step]) -> [String] {
        steps.compactMap { step in
            switch step {
            case .connect(let delay): "connect after \(Int(delay / .milliseconds(1)))"
            case .send(let number, _): "send \(number)"
            case .answer(let number, .success): "answer \(number)"
            case .answer(let number, .failure(let error)): "fail \(number) \(error.code)"
            case .begin: "begin"
            case .tell: "tell"
            case .hangUp: "hang up"
            case .finish: "finish"
            case .tick: nil
            case .end(let error): "end \(error.code)"
            }
        }
    }

    private func exchange(role: DaemonCall? = nil, isStarting: Bool = true) -> TickedExchange {
        TickedExchange(exchange: DaemonExchange(role: role, isStarting: isStarting))
    }

    /// Handles events one after another, and returns the steps of each.
    private func tell(_ exchange: inout TickedExchange, _ events: DaemonExchange.Event...) -> [[String]] {
        events.map { words(exchange.handle($0)) }
    }

    @Test("the greeting is sent first, then the role, then the calls that wait")
    func order() {
        var exchange = exchange(role: .watch)
        #expect(
            tell(&exchange, .open(3), .call(4, .list), .connected, Self.hello, .call(5, .schedule), Self.taken) == [
                ["connect after 0"], [], ["begin", "send 1"], ["send 2"], [], ["answer 3", "send 4", "send 5"],
            ])
        #expect(tell(&exchange, .call(6, .list)) == [["send 6"]])
        #expect(tell(&exchange, .received(.answer(number: 5, .done))) == [["answer 5"]])
        #expect(tell(&exchange, .received(.answer(number: 5, .done))) == [[]])
    }

    @Test("only calls without an answer are repeated after the daemon ends")
    func again() {
        var exchange = exchange()
        _ = tell(
            &exchange, .call(3, .list), .connected, Self.hello, .call(4, .acknowledge([])), .call(5, .schedule),
            .received(.answer(number: 4, .done)), .cancel(5))
        #expect(
            tell(&exchange, .lost(nil), .connected, Self.hello) == [
                ["connect after 0"], ["begin", "send 1"], ["send 3"],
            ])
    }

    @Test("without a role, a lost idle connection is made again only for a call")
    func rest() {
        var exchange = exchange()
        _ = tell(&exchange, .open(3), .connected, Self.hello)
        #expect(tell(&exchange, .lost(nil), .call(4, .list)) == [[], ["connect after 0"]])
    }

    @Test("the exchange gives up on a daemon that never answers after some attempts with growing delays")
    func giveUp() {
        var exchange = exchange(role: .watch)
        _ = tell(&exchange, .open(3), .connected, Self.hello, Self.taken, .call(4, .list))
        var delays: [String] = []
        for _ in 0..<DaemonExchange.tries {
            delays += words(exchange.handle(.lost(nil)))
            _ = tell(&exchange, .connected, Self.hello, Self.taken)
        }
        #expect(delays == [0, 100, 200, 400, 800, 1600, 3200].map { "connect after \($0)" })
        #expect(words(exchange.handle(.lost(nil))) == ["fail 4 daemonUnavailable", "end daemonUnavailable"])
        #expect(tell(&exchange, .call(5, .list)) == [["fail 5 daemonUnavailable"]])
    }

    @Test("a report of all tasks does not count as an answer when the daemon dies of a call")
    func poison() {
        var exchange = exchange(role: .watch)
        _ = tell(&exchange, .open(3), .connected, Self.hello, Self.taken, .call(4, .list))
        var tries = 0
        while words(exchange.handle(.lost(nil))).first?.hasPrefix("connect") == true, tries < 100 {
            tries += 1
            _ = tell(&exchange, .connected, Self.hello, Self.taken, .received(.event(.gone(.random()))))
            _ = tell(&exchange, .received(.event(.caughtUp)), .received(.event(.gone(.random()))))
        }
        #expect(tries == DaemonExchange.tries)
    }

    @Test("a daemon that keeps ending while idle is followed without end, with a pause")
    func restless() {
        var exchange = exchange(role: .watch)
        _ = tell(&exchange, .open(3), .connected, Self.hello, Self.taken)
        var delays: [String] = []
        for _ in 0..<50 {
            delays += words(exchange.handle(.lost(nil)))
            _ = tell(&exchange, .connected, Self.hello, Self.taken)
        }
        #expect(delays.count == 50 && delays.first == "connect after 0" && delays.last == "connect after 30000")
    }

    @Test("a daemon that answers and then crashes is started with growing delays, until it was ready for a while")
    func crashes() {
        var exchange = exchange(role: .watch)
        var now = Moment(nanoseconds: 0)
        _ = tell(&exchange, .open(3))
        func live(for time: Duration) -> [String] {
            for event: DaemonExchange.Event in [
                .connected, Self.hello, Self.taken, .received(.event(.caughtUp)), .call(4, .list),
                .received(.answer(number: 4, .tasks([]))), .received(.event(.gone(.random()))),
            ] { _ = exchange.handle(event, at: now) }
            now = now.advanced(by: time)
            return words(exchange.handle(.lost(nil), at: now))
        }
        let short = DaemonExchange.healthyTime - .nanoseconds(1)
        #expect(
            (0..<12).flatMap { _ in live(for: short) }
                == [0, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 30000, 30000, 30000].map { "connect after \($0)" })
        #expect(live(for: DaemonExchange.healthyTime) == ["connect after 0"])
        #expect(live(for: short) == ["connect after 100"])
    }

    @Test("a daemon that cannot be started is an error at once, and a later one only after some attempts")
    func unreachable() {
        let none = DaemonExchange.Event.unreachable(TransferError(.daemonUnavailable, "no such file"))
        var first = exchange(role: .watch)
        #expect(
            tell(&first, .open(3), none) == [
                ["connect after 0"], ["fail 3 daemonUnavailable", "end daemonUnavailable"],
            ])
        var later = exchange()
        _ = tell(&later, .open(3), .connected, Self.hello, .call(4, .list))
        #expect(
            tell(&later, .lost(nil), none, none) == [["connect after 0"], ["connect after 100"], ["connect after 200"]])
        var passive = exchange(isStarting: false)
        _ = tell(&passive, .open(3), .connected, Self.hello, .call(4, .list))
        #expect(
            tell(&passive, .lost(nil), none, none, .call(5, .list)) == [
                ["connect after 0"], ["connect after 100"], ["fail 4 daemonUnavailable"], ["connect after 0"],
            ])
    }

    @Test("a daemon that does not greet is an error at once, and a later one only after some attempts")
    func silent() {
        let silent = DaemonExchange.Event.unreachable(TransferError(.daemonUnavailable, "does not answer"))
        var first = exchange()
        #expect(
            tell(&first, .open(3), .connected, silent, .lost(nil)) == [
                ["connect after 0"], ["begin", "send 1"], ["fail 3 daemonUnavailable"], [],
            ])
        var later = exchange(role: .watch)
        _ = tell(&later, .open(3), .connected, Self.hello, Self.taken)
        #expect(
            tell(&later, .lost(nil), .connected, silent) == [
                ["connect after 0"], ["begin", "send 1"], ["connect after 100"],
            ])
        #expect(tell(&later, .connected, Self.hello, silent) == [["begin", "send 1"], ["send 2"], []])
    }

    /// Lets requested ticks pass until a step follows, and returns their number.
    private func wait(_ exchange: inout TickedExchange, atMost limit: Int = 1000) -> (ticks: Int, words: [String]) {
        var ticks = 0
        while ticks < limit, exchange.ticks > 0 {
            ticks += 1
            let steps = exchange.handle(.tick(TransferError(.daemonUnavailable, "does not answer")))
            if !words(steps).isEmpty { return (ticks, words(steps)) }
        }
        return (ticks, [])
    }

    @Test("calls to a silent daemon fail after a while, and the connection stays for later events")
    func unanswered() {
        var exchange = exchange(role: .watch)
        _ = tell(&exchange, .open(3), .connected, Self.hello, Self.taken, .received(.event(.caughtUp)))
        #expect(wait(&exchange) == (1, []), "events may stay out for ever")
        _ = tell(&exchange, .call(4, .list), .call(5, .schedule))
        #expect(wait(&exchange, atMost: SilenceMeter.ticks).words == [])
        #expect(wait(&exchange) == (2, ["fail 4 timedOut", "fail 5 timedOut"]))
        #expect(
            tell(&exchange, .received(.answer(number: 4, .done)), .received(.event(.gone(.random())))) == [
                [], ["tell"],
            ])
        #expect(tell(&exchange, .call(6, .list), .received(.answer(number: 6, .done))) == [["send 6"], ["answer 6"]])
    }

    @Test("any message ends a silence, and a call about many tasks allows a longer one")
    func slow() {
        var exchange = exchange(role: .watch)
        _ = tell(&exchange, .open(3), .connected, Self.hello, Self.taken, .received(.event(.caughtUp)), .call(4, .list))
        for _ in 0..<20 {
            #expect(wait(&exchange, atMost: SilenceMeter.ticks).words == [])
            _ = tell(&exchange, .received(.event(.gone(.random()))))
        }
        let ids = (0..<1000).map { _ in BackgroundTask.ID.random() }
        _ = tell(&exchange, .received(.answer(number: 4, .done)), .call(5, .change(ids, .forget)))
        let (ticks, words) = wait(&exchange)
        #expect(ticks == SilenceMeter.ticks + 2 + 1000 / SilenceMeter.tasksPerTick && words == ["fail 5 timedOut"])
    }

    @Test("a daemon that is silent before it has reported all tasks is an error at first, later only after attempts")
    func unansweredRole() {
        var first = exchange(role: .attach(identifier: "a"))
        _ = tell(&first, .open(3), .connected, Self.hello)
        #expect(wait(&first).words == ["hang up", "fail 3 daemonUnavailable", "end daemonUnavailable"])
        var later = exchange(role: .watch)
        _ = tell(&later, .open(3), .connected, Self.hello, Self.taken, .call(4, .list))
        #expect(wait(&later).words == ["fail 4 timedOut", "hang up", "connect after 0"])
        _ = tell(&later, .lost(nil), .connected, Self.hello)
        #expect(wait(&later).words == ["hang up", "connect after 100"])
    }

    @Test("ticks are requested one at a time, and only while a call waits")
    func ticks() {
        let tick = DaemonExchange.Event.tick(TransferError(.daemonUnavailable, "does not answer"))
        var exchange = exchange()
        let events: [(DaemonExchange.Event, Int)] = [
            (.open(3), 0), (.connected, 0), (Self.hello, 0), (.call(4, .list), 1), (.call(5, .list), 1), (tick, 1),
            (.received(.answer(number: 4, .done)), 1), (.received(.answer(number: 5, .done)), 1), (.call(6, .list), 1),
            (.received(.answer(number: 6, .done)), 1), (tick, 0), (.call(7, .list), 1), (.lost(nil), 1), (tick, 0),
        ]
        for (place, (event, ticks)) in events.enumerated() {
            _ = exchange.handle(event)
            #expect(exchange.ticks == ticks, "event \(place)")
        }
    }

    @Test("an answer in several frames is joined, and starts over on a new connection")
    func parts() {
        func status() -> BackgroundStatus {
            BackgroundStatus(.random(), "a", BackgroundRequest(.custom(kind: "test", payload: [])), at: 1)
        }
        let (first, last) = ([status(), status()], [status()])
        var exchange = exchange()
        _ = tell(&exchange, .call(3, .list), .connected, Self.hello)
        let part = DaemonExchange.Event.received(.answer(number: 3, .firstTasks(first)))
        #expect(tell(&exchange, part, .lost(nil), .connected, Self.hello, part).last == [])
        guard
            case .answer(3, .success(.tasks(let all))) = exchange.handle(
                .received(.answer(number: 3, .tasks(last)))
            ).first
        else {
            Issue.record("there is no answer")
            return
        }
        #expect(all == first + last)
    }

    @Test("an identifier that another session releases within half a second is granted")
    func refused() {
        let refusal = DaemonExchange.Event.received(
            .answer(number: 2, .refused(code: "identifierInUse", message: "in use")))
        for freeAfter in [1, 9, 10] {
            var exchange = exchange(role: .attach(identifier: "a"))
            var last = tell(&exchange, .open(3), .connected, Self.hello).last
            for _ in 0..<freeAfter {
                last = tell(&exchange, refusal).last
                if last?.last?.hasPrefix("connect") == true { _ = tell(&exchange, .lost(nil), .connected, Self.hello) }
            }
            if freeAfter < 10 {
                #expect(tell(&exchange, Self.taken) == [["answer 3"]])
            } else {
                #expect(last == ["hang up", "fail 3 identifierInUse", "end identifierInUse"])
            }
        }
    }

    @Test("a daemon of another version is an error with a remedy")
    func version() {
        var exchange = exchange()
        _ = tell(&exchange, .open(3), .connected)
        let steps = exchange.handle(.received(.answer(number: 1, .hello(version: 99, process: 7))))
        guard case .answer(3, .failure(let error)) = steps.last else {
            Issue.record("\(words(steps))")
            return
        }
        #expect(error.code == .daemonUnavailable)
        #expect(error.message.contains("process 7") && error.message.contains("99") && error.message.contains("end it"))
    }

    @Test("forgetting a task again is an error only for the first call")
    func forget() {
        let unknown = DaemonExchange.Event.received(
            .answer(number: 3, .refused(code: "unknownTask", message: "unknown")))
        let call = DaemonCall.change([.random()], .forget)
        var exchange = exchange()
        _ = tell(&exchange, .call(3, call), .connected, Self.hello)
        var other = exchange
        #expect(tell(&other, unknown) == [["fail 3 unknownTask"]])
        _ = tell(&exchange, .lost(nil), .connected, Self.hello)
        #expect(tell(&exchange, unknown) == [["answer 3"]])
    }

    @Test("a stop is answered when the daemon has ended, and does not start it again")
    func stop() {
        var exchange = exchange()
        _ = tell(&exchange, .call(3, .stop), .connected, Self.hello)
        #expect(tell(&exchange, .received(.answer(number: 3, .done)), .lost(nil)) == [[], ["answer 3"]])
        #expect(tell(&exchange, .call(4, .list)) == [["connect after 0"]])
    }

    @Test("closing fails all waiting calls, and sends no more")
    func close() {
        var exchange = exchange(role: .watch)
        _ = tell(&exchange, .open(3), .connected, .call(4, .list))
        #expect(
            tell(&exchange, .close) == [
                ["fail 3 sessionInvalid", "fail 4 sessionInvalid", "finish", "end sessionInvalid"]
            ])
        #expect(
            tell(&exchange, .close, .call(5, .list), .received(.event(.caughtUp)), .lost(nil)) == [
                [], ["fail 5 sessionInvalid"], [], [],
            ])
        var late = self.exchange()
        _ = tell(&late, .open(3), .close)
        #expect(tell(&late, .connected) == [["hang up"]])
    }
}
