import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension FakeDaemon {
    func session(_ identifier: String = "photos") async throws(TransferError) -> BackgroundSession {
        try await BackgroundSession(
            configuration: .background(identifier, service: service), connector)
    }

    /// Returns when the daemon has received that the end was taken.
    func acknowledged(_ id: BackgroundTask.ID) async {
        await calls.wait {
            $0.contains { if case .acknowledge(let ends) = $0 { ends.contains { $0.id == id } } else { false } }
        }
    }
}

extension BackgroundSession {
    fileprivate func task() -> BackgroundTask { workTask("test", payload: [1]) }

    /// The events of a new reader up to caughtUp.
    fileprivate func missed() async -> [BackgroundEvent] {
        var all: [BackgroundEvent] = []
        for await event in events {
            if event == .caughtUp { break }
            all.append(event)
        }
        return all
    }
}

extension BackgroundEvent {
    fileprivate var finished: BackgroundTask.ID? { if case .finished(let status) = self { status.id } else { nil } }
    fileprivate var changed: BackgroundTask.ID? { if case .changed(let status) = self { status.id } else { nil } }
}

@Suite("Background sessions")
struct BackgroundSessionTests {
    @Test("resume returns when the task is recorded with its options")
    func resume() async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        var options = BackgroundOptions()
        options.label = "ridge"
        let request = try HTTPRequest(url: "https://club.example/ridge.jpg")
        let download = session.downloadTask(request, to: "/photos/ridge.jpg", options: options)
        #expect(download.status == nil && daemon.tasks.isEmpty)
        try await download.resume()
        let recorded = try #require(daemon.tasks.first)
        #expect(recorded.id == download.id && recorded.identifier == "photos" && download.status == recorded)
        #expect(recorded.request == BackgroundRequest(.download(request, to: "/photos/ridge.jpg"), options: options))
        let upload = session.uploadTask(request, fromFile: "/photos/new.jpg")
        try await upload.resume()
        #expect(try await session.tasks().map(\.id) == [download.id, upload.id])
        #expect(upload.request.work == .upload(request, file: "/photos/new.jpg"))
    }

    @Test(
        "a daemon that ends before or after it records is asked again, and records once",
        arguments: [FakeDaemon.Fate.dies, .diesUnanswered])
    func lostAnswer(fate: FakeDaemon.Fate) async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        daemon.decideOnce(fate) { if case .submit = $0 { true } else { false } }
        let task = session.task()
        try await task.resume()
        #expect(daemon.tasks.map(\.id) == [task.id])
        #expect(daemon.calls.entries.count { if case .submit = $0 { true } else { false } } == 2)
    }

    @Test("changes reach the daemon, and the task shows them when they return")
    func changes() async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        let task = session.task()
        try await task.resume()
        try await task.pause()
        #expect(task.status?.state == .paused)
        try await task.setPriority(.high)
        #expect(task.status?.priority == .high)
        try await task.resume()
        #expect(task.status?.state == .waiting && daemon.tasks.count == 1)
        try await task.cancel()
        #expect(task.status?.state == .failed)
        let calls = daemon.calls.entries.count
        try await task.cancel()
        #expect(daemon.calls.entries.count == calls)
        let error = await failure { () async throws(TransferError) in try await session.task().pause() }
        #expect(error?.code == .unknownTask)
    }

    @Test("work that cannot be recorded is an error")
    func refused() async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        daemon.decide { if case .submit = $0 { .refused("badRequest") } else { .answered } }
        let task = session.task()
        let error = await failure { () async throws(TransferError) in try await task.resume() }
        #expect(error?.code == .badRequest && error?.message == "refused: badRequest")
        #expect(task.status == nil)
    }

    @Test("a value returns the result or throws the failure, which is not reported again")
    func value() async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        let (good, bad) = (session.task(), session.task())
        try await good.resume()
        try await bad.resume()
        let result = Task { try await good.value }
        daemon.finish(good.id, [7])
        #expect(try await result.value == BackgroundResult(status: 200, bytes: [7]))
        daemon.fail(bad.id)
        let failure = await #expect(throws: BackgroundFailure.self) { try await bad.value }
        #expect(failure?.code == "tls")
        #expect(daemon.tasks.isEmpty, "both were acknowledged before their values returned")
        #expect(good.status?.state == .done && bad.status?.state == .failed)
        #expect(try await good.value.bytes == [7])
        #expect(await session.missed() == [])
    }

    @Test("a failed task can be resumed after its end was taken, and one that is done is not repeated")
    func resumeFinished() async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        let (failed, done) = (session.task(), session.task())
        for task in [failed, done] { try await task.resume() }
        daemon.fail(failed.id)
        await #expect(throws: BackgroundFailure.self) { try await failed.value }
        try await failed.resume()
        #expect(daemon.tasks.map(\.id) == [done.id, failed.id] && failed.status?.state == .waiting)
        daemon.finish(failed.id, [1])
        #expect(try await failed.value.bytes == [1])
        daemon.finish(done.id)
        _ = try await done.value
        try await done.resume()
        #expect(daemon.tasks.isEmpty)
    }

    @Test("cancelling a wait does not cancel the task")
    func cancelWait() async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        let task = session.task()
        try await task.resume()
        let waiting = Task { try await task.value }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        daemon.decide { if case .list = $0 { .never } else { .answered } }
        let listing = Task { await failure { () async throws(TransferError) in try await session.tasks() } }
        await daemon.calls.wait { $0.contains(.list) }
        listing.cancel()
        #expect(await listing.value?.code == .cancelled)
        daemon.finish(task.id)
        _ = try await task.value
    }

    @Test("every reader of updates gets the last change, and the sequence ends with the task")
    func updates() async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        let task = session.task()
        async let early = task.updates.reduce(into: []) { $0.append($1) }
        try await task.resume()
        async let late = task.updates.reduce(into: []) { $0.append($1) }
        daemon.change(task.id) { $0.bytes = 10 }
        daemon.finish(task.id)
        for updates in await [early, late] {
            #expect(updates.last?.state == .done)
            #expect(updates.map(\.sequence) == updates.map(\.sequence).sorted())
        }
        #expect(await task.updates.reduce(into: []) { $0.append($1.state) } == [.done])
    }

    @Test("a new session gets the status of all tasks and missed ends, then caughtUp, then changes")
    func missed() async throws {
        let daemon = FakeDaemon()
        let (waiting, done) = (daemon.add("photos"), daemon.add("photos"))
        daemon.add("notes")
        daemon.finish(done, [1])
        let session = try await daemon.session()
        var events = session.events.makeAsyncIterator()
        #expect(await events.next()?.changed == waiting)
        #expect(await events.next()?.finished == done)
        #expect(await events.next() == .caughtUp)
        let new = daemon.add("photos")
        #expect(await events.next()?.changed == new)
        #expect(try await session.tasks().map(\.id) == [waiting, new])
    }

    @Test("an end counts as taken when the reader asks for the next event")
    func taken() async throws {
        let daemon = FakeDaemon()
        let (first, second) = (daemon.add("photos"), daemon.add("photos"))
        daemon.finish(first)
        daemon.finish(second)
        do {
            // Dropped, as by a program that ends while it handles the second event.
            var events = try await daemon.session().events.makeAsyncIterator()
            #expect(await events.next()?.finished == first)
            #expect(await events.next()?.finished == second)
            await daemon.acknowledged(first)
        }
        await daemon.connections.wait { $0.contains(false) }
        #expect(daemon.tasks.map(\.id) == [second])
        #expect(await (try daemon.session()).missed().map(\.finished) == [second])
    }

    @Test("invalidating a session takes the ends that its reader has got, and leaves the others")
    func invalidate() async throws {
        let daemon = FakeDaemon()
        let (first, second) = (daemon.add("photos"), daemon.add("photos"))
        for id in [first, second] { daemon.finish(id) }
        let session = try await daemon.session()
        var events = session.events.makeAsyncIterator()
        #expect(await events.next()?.finished == first)
        let unfinished = session.task()
        try await unfinished.resume()
        let value = Task { try await unfinished.value }
        await session.invalidate()
        #expect(await events.next() == nil)
        let error = await #expect(throws: TransferError.self) { try await value.value }
        #expect(error?.code == .sessionInvalid)
        let late = await failure { () async throws(TransferError) in try await unfinished.pause() }
        #expect(late?.code == .sessionInvalid)
        _ = await failure { () async throws(TransferError) in try await unfinished.resume() }
        let again = await #expect(throws: TransferError.self) { try await unfinished.value }
        #expect(again?.code == .sessionInvalid)
        #expect(daemon.tasks.map(\.id) == [second, unfinished.id])
        let next = try await daemon.session()
        #expect(await next.missed().map { $0.finished ?? $0.changed } == [second, unfinished.id])
    }

    @Test("a session can be invalidated although its daemon confirms nothing")
    func stuck() async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        let task = session.task()
        try await task.resume()
        daemon.decide { if case .acknowledge = $0 { .never } else { .answered } }
        var events = session.events.makeAsyncIterator()
        daemon.finish(task.id)
        while let event = await events.next(), event.finished == nil {}
        await session.invalidate(within: .milliseconds(50))
        #expect(daemon.tasks.map(\.id) == [task.id])
        await daemon.acknowledged(task.id)
    }

    @Test("after a restart of the daemon no event is repeated and no change is missed")
    func restart() async throws {
        let daemon = FakeDaemon()
        let (same, changed, ended, gone) = (
            daemon.add("photos"), daemon.add("photos"), daemon.add("photos"), daemon.add("photos")
        )
        let session = try await daemon.session()
        var events = session.events.makeAsyncIterator()
        for id in [same, changed, ended, gone] { #expect(await events.next()?.changed == id) }
        #expect(await events.next() == .caughtUp)
        let goner = try #require(try await session.tasks().last)
        let lost = Task { try await goner.value }
        daemon.end()
        daemon.change(changed) { $0.bytes = 5 }
        daemon.finish(ended)
        daemon.forget(gone)
        #expect(await events.next()?.changed == changed)
        #expect(await events.next()?.finished == ended)
        let error = await #expect(throws: TransferError.self) { try await lost.value }
        #expect(error?.code == .unknownTask)
        daemon.end()
        let last = daemon.add("photos")
        #expect(await events.next()?.changed == last)
        await daemon.acknowledged(ended)
    }

    @Test("an end that was taken is not repeated, though the daemon ended before it confirmed that")
    func lostTaking() async throws {
        let daemon = FakeDaemon()
        let done = daemon.add("photos")
        daemon.finish(done)
        let session = try await daemon.session()
        daemon.decideOnce(.dies) { if case .acknowledge = $0 { true } else { false } }
        var events = session.events.makeAsyncIterator()
        #expect(await events.next()?.finished == done)
        #expect(await events.next() == .caughtUp)
        let next = daemon.add("photos")
        #expect(await events.next()?.changed == next)
        await session.invalidate()
        #expect(daemon.tasks.map(\.id) == [next])
    }

    @Test("a task that is resumed before its end is taken is not forgotten")
    func resumedWhileTold() async throws {
        let daemon = FakeDaemon()
        let id = daemon.add("photos")
        daemon.fail(id)
        let session = try await daemon.session()
        let task = try #require(try await session.tasks().first)
        for await event in session.events {
            if event.finished == id, case .finished(let status) = event {
                if status.state == .done { break }
                try await task.resume()
                daemon.finish(id)
            }
        }
        #expect(daemon.tasks.map(\.state) == [.done])
        #expect(!daemon.calls.entries.contains { if case .acknowledge = $0 { true } else { false } })
    }

    @Test("a new reader ends the sequence of the old one, and gets the status of all tasks")
    func readers() async throws {
        let daemon = FakeDaemon()
        let id = daemon.add("photos")
        let session = try await daemon.session()
        let told = Log<BackgroundEvent>()
        let first = Task {
            for await event in session.events { told.add(event) }
        }
        await told.wait { $0.last == .caughtUp }
        var second = session.events.makeAsyncIterator()
        #expect(await second.next()?.changed == id)
        #expect(await second.next() == .caughtUp)
        await first.value
        #expect(told.entries.map(\.changed) == [id, nil])
    }

    @Test("while events are read, a value takes no result")
    func valueBesideEvents() async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        let task = session.task()
        var events: AsyncStream<BackgroundEvent>.Iterator? = session.events.makeAsyncIterator()
        #expect(await events?.next() == .caughtUp)
        try await task.resume()
        daemon.finish(task.id)
        _ = try await task.value
        #expect(daemon.tasks.count == 1)
        events = nil
        _ = try await task.value
        #expect(daemon.tasks.isEmpty)
    }

    @Test("an identifier belongs to one session at a time")
    func inUse() async throws {
        let daemon = FakeDaemon()
        let first = try await daemon.session()
        let error = await failure { () async throws(TransferError) in try await daemon.session() }
        #expect(error?.code == .identifierInUse)
        #expect(error?.message.contains("'photos'") == true && error?.message.contains("invalidate") == true)
        _ = try await daemon.session("notes")
        await first.invalidate()
        _ = try await daemon.session()
        for identifier in ["", String(repeating: "a", count: 201), "a\nb"] {
            let error = await failure { () async throws(TransferError) in try await daemon.session(identifier) }
            #expect(error?.code == .badConfiguration)
        }
    }

    @Test("an end that was taken is sent to a new daemon if the old one never confirmed it")
    func lateAcknowledgement() async throws {
        let daemon = FakeDaemon()
        let id = daemon.add("photos")
        daemon.finish(id)
        let stops = Log<Bool>()
        var connector = daemon.connector
        connector.tick = { await stops.wait { $0.last == true } }
        let session = try await BackgroundSession(
            configuration: .background("photos", service: daemon.service), connector)
        daemon.decide { call in
            switch call {
            case .acknowledge, .list: .never
            default: .answered
            }
        }
        var events = session.events.makeAsyncIterator()
        #expect(await events.next()?.finished == id)
        #expect(await events.next() == .caughtUp)
        await daemon.acknowledged(id)
        let asking = Task { try await session.tasks() }
        await daemon.calls.wait { $0.contains(.list) }
        stops.add(true)
        // This also ends the wait for the acknowledgement.
        let error = await #expect(throws: TransferError.self) { try await asking.value }
        #expect(error?.code == .timedOut)
        stops.add(false)
        daemon.decide { _ in .answered }
        daemon.end()
        // Its answer comes after the new daemon's report of all tasks.
        _ = try await session.tasks()
        #expect(try await session.tasks().isEmpty && daemon.tasks.isEmpty)
    }

    @Test("dropping a session releases its identifier")
    func dropped() async throws {
        let daemon = FakeDaemon()
        do {
            let session = try await daemon.session()
            try await session.task().resume()
        }
        await daemon.connections.wait { $0.contains(false) }
        #expect(try await daemon.session().tasks().count == 1)
    }

    @Test("when no daemon can be started any more, all waits fail")
    func unavailable() async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        let task = session.task()
        try await task.resume()
        var events = session.events.makeAsyncIterator()
        #expect(await events.next()?.changed == task.id)
        #expect(await events.next() == .caughtUp)
        let value = Task { try await task.value }
        daemon.stopListening()
        let error = await #expect(throws: TransferError.self) { try await value.value }
        #expect(error?.code == .daemonUnavailable)
        #expect(await events.next() == nil)
        let late = await failure { () async throws(TransferError) in try await task.pause() }
        #expect(late?.code == .daemonUnavailable)
    }
}
