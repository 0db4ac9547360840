import HTTPTypes
import Testing

@testable import ByteClubHTTP

extension FakeDaemon {
    func session(_ identifier: String = "photos") async throws(TransferError) -> BackgroundSession {
        try await BackgroundSession(
            configuration: .background(identifier, service: service), connector)
    }

    /// Returns when the daemon was told that the end was taken.
    func acknowledged(_ id: BackgroundTask.ID) async {
        await calls.wait {
            $0.contains { if case .acknowledge(let ends) = $0 { ends.contains { $0.id == id } } else { false } }
        }
    }
}

extension BackgroundSession {
    fileprivate func task() -> BackgroundTask { workTask("test", payload: [1]) }

    /// What a new reader is told until all that was missed is told.
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
    @Test("a task is recorded when its resume has returned, as it was asked for")
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

    @Test("what cannot be recorded is told")
    func refused() async throws {
        let daemon = FakeDaemon()
        let session = try await daemon.session()
        daemon.decide { if case .submit = $0 { .refused("badRequest") } else { .answered } }
        let task = session.task()
        let error = await failure { () async throws(TransferError) in try await task.resume() }
        #expect(error?.code == .badRequest && error?.message == "refused: badRequest")
        #expect(task.status == nil)
    }

    @Test("who waits for a value gets it, or why there is none, and nobody is told again")
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

    @Test("a failed task that was taken can be resumed, and one that is done is not done again")
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

    @Test("cancelling who waits ends the wait alone")
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

    @Test("updates tell the last change, to every reader, and end with the task")
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

    @Test("a new session is told how all stands and what ended meanwhile, then that this was all, then what follows")
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

    @Test("an end counts as taken when the next event is asked for")
    func taken() async throws {
        let daemon = FakeDaemon()
        let (first, second) = (daemon.add("photos"), daemon.add("photos"))
        daemon.finish(first)
        daemon.finish(second)
        do {
            // Dropped as by a program that ends while it handles the second.
            var events = try await daemon.session().events.makeAsyncIterator()
            #expect(await events.next()?.finished == first)
            #expect(await events.next()?.finished == second)
            await daemon.acknowledged(first)
        }
        await daemon.connections.wait { $0.contains(false) }
        #expect(daemon.tasks.map(\.id) == [second])
        #expect(await (try daemon.session()).missed().map(\.finished) == [second])
    }

    @Test("a session that is invalidated has taken what it was told, and leaves the rest")
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

    @Test("a session whose daemon notes nothing can be invalidated all the same")
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

    @Test("after a restart of the daemon nothing is told twice, and what changed meanwhile is told")
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

    @Test("an end whose taking the daemon did not note before it ended is not told again")
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

    @Test("a task that is resumed before its end was taken is not forgotten")
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

    @Test("who reads anew ends the former reader, and is told how all stands")
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

    @Test("while somebody reads events, a value takes nothing")
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

    @Test("an end that was taken is told to a new daemon when the former one never answered to that")
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
        // The acknowledgement is waited for no longer with it.
        let error = await #expect(throws: TransferError.self) { try await asking.value }
        #expect(error?.code == .timedOut)
        stops.add(false)
        daemon.decide { _ in .answered }
        daemon.end()
        // Its answer comes after all that the new daemon begins with.
        _ = try await session.tasks()
        #expect(try await session.tasks().isEmpty && daemon.tasks.isEmpty)
    }

    @Test("a session that is dropped lets go of its identifier")
    func dropped() async throws {
        let daemon = FakeDaemon()
        do {
            let session = try await daemon.session()
            try await session.task().resume()
        }
        await daemon.connections.wait { $0.contains(false) }
        #expect(try await daemon.session().tasks().count == 1)
    }

    @Test("when no daemon can be had any more, all that waits is told")
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
