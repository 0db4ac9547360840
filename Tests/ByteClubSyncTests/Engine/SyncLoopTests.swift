import ByteClubCore
import Testing

@testable import ByteClubSync

/// What the loop asks for, told events and reports alone: no disk, no server, no time that passes by itself.
@Suite struct SyncLoopTests {
    /// A loop that runs without end, and its clock.
    private struct Run: ~Copyable {
        var loop = SyncLoop(SyncConfiguration(directory: "/mirror", stateDirectory: "/state"))
        var now = SyncInstant(sinceStart: .seconds(1))
        /// The steps so far, without those that wait.
        var steps: [SyncLoop.Step] = []

        init() throws {
            loop.begin(.never, at: now)
            try rest()
            steps = []
        }

        init(to goal: SyncGoal) { loop.begin(goal, at: now) }

        /// Performs the next step, which takes a millisecond.
        @discardableResult
        mutating func step(
            _ report: (SyncLoop.Step) -> SyncReport = { _ in SyncReport() }
        ) throws -> SyncLoop.Step {
            let step = loop.next(at: now)
            if case .end = step { return step }
            var result = report(step)
            switch step {
            case .check: loop.setPause(nil, at: now)
            case .pull: loop.pulled(.current)
            case .sync: result.last = .root
            case .scan(let request):
                let again = loop.beginScan(request, at: now).again
                loop.scanned(request, ScanReport(), again: again, unwatched: [], lasting: .zero, at: now)
            case .delete: result.verdict = result.verdict ?? DeletionGuard.Verdict()
            default: break
            }
            _ = try loop.did(step, result, slots: 3, at: now)
            now = now + .milliseconds(1)
            if case .wait = step { return step }
            steps.append(step)
            return step
        }

        /// Performs steps until there is nothing to do.
        mutating func rest(_ report: (SyncLoop.Step) -> SyncReport = { _ in SyncReport() }) throws {
            for _ in 0..<100 { if case .wait = try step(report) { return } }
            Issue.record("no rest after 100 steps: \(steps.suffix(8))")
        }

        mutating func save(_ name: String) {
            loop.receive(.disk(DiskChange(closed: [.root: [EntryName(name)]])), at: now)
        }

        func count(_ isWanted: (SyncLoop.Step) -> Bool) -> Int { steps.count(where: isWanted) }
    }

    @Test(
        "files that are saved without end put off neither the scan of a folder nor conclusions by more than a second",
        arguments: [false, true])
    func endlessSaves(hasMore: Bool) throws {
        var run = try Run()
        let folder = ItemID(7)
        run.save("log")
        run.loop.receive(.disk(DiskChange(finished: [folder])), at: run.now)
        for _ in 0..<3_000 {
            try run.step { step in
                var report = SyncReport()
                if case .scan(.files) = step { report.ready = [ItemID(3)] }
                if case .settle = step { (report.done, report.hasChanges) = (1, hasMore) }
                return report
            }
            // As a watcher tells it: the folder has changed, too.
            run.loop.receive(.disk(DiskChange(closed: [.root: ["log"]], begun: [.root])), at: run.now)
        }
        let folders = run.count { if case .scan(.folders([folder])) = $0 { true } else { false } }
        let conclusions = run.count { if case .conclude = $0 { true } else { false } }
        let files = run.count { if case .scan(.files) = $0 { true } else { false } }
        #expect(
            folders == 1 && conclusions >= 2 && conclusions <= 4 && files > 1_000, "\(folders) \(conclusions) \(files)")
    }

    @Test("new ignore rules that come between two steps are looked for soon after them")
    func rulesBetweenSteps() throws {
        var run = try Run()
        run.save("note")
        while true {
            let step = try run.step()
            if case .scan = step { break }
        }
        run.loop.receive(.disk(DiskChange(closed: [.root: [".byteclubignore"]])), at: run.now)
        try run.rest()
        run.now = run.now + .milliseconds(300)
        let step = try run.step()
        guard case .check = step else {
            Issue.record("no check: \(step)")
            return
        }
    }

    @Test("the loop wakes for a scan that is to come")
    func wakesForScan() throws {
        var run = try Run()
        let time = run.now + FileFingerprint.racyWindow + .milliseconds(100)
        var found = ScanReport()
        found.racyFolders = [ItemID(7)]
        run.loop.scanned(.files([:]), found, again: [], unwatched: [], lasting: .zero, at: run.now)
        let step = try run.step()
        guard case .wait(let until) = step else {
            Issue.record("the loop does not wait: \(step)")
            return
        }
        #expect(until == time)
    }

    @Test("what work left undone because of the disk is planned again after the scan it asked for, and only then")
    func plannedAgain() throws {
        var run = try Run()
        let folder = ItemID(7)
        run.loop.receive(.disk(DiskChange(closed: [.root: ["note"]])), at: run.now)
        try run.rest { step in
            var report = SyncReport()
            if case .scan(.files) = step { report.ready = [ItemID(3)] }
            if case .settle = step { (report.done, report.rescans) = (1, [folder]) }
            return report
        }
        let kinds = run.steps.compactMap { step -> String? in
            switch step {
            case .settle: "settle"
            case .scan(.folders([folder])): "scan"
            case .sync: "sync"
            default: nil
            }
        }
        #expect(kinds == ["settle", "scan", "sync"])
        run.steps = []
        run.loop.receive(.disk(DiskChange(finished: [folder])), at: run.now)
        try run.rest()
        #expect(
            run.count { if case .sync = $0 { true } else { false } } == 0, "a scan that finds nothing needs no round")
    }

    @Test(
        "a server that asks for more seconds than a duration holds is waited for half a minute", arguments: [31, 1e300])
    func retryAfter(seconds: Double) throws {
        var run = try Run()
        run.save("note")
        try run.rest { step in
            var report = SyncReport()
            if case .scan(.files) = step { report.ready = [ItemID(3)] }
            if case .settle = step {
                report.failure = RemoteError(.unreachable, "busy", retryAfter: seconds)
            }
            return report
        }
        var wait: Duration?
        if case .wait(let until?) = run.loop.next(at: run.now) { wait = until - run.now }
        #expect(wait.map { $0 > .seconds(29) && $0 <= .seconds(30) } == true)
    }

    @Test("a change of the network ends a wait after failures, and has the pause checked", arguments: [true, false])
    func network(isMetered: Bool) throws {
        var run = try Run()
        let away = SyncError(.remote(RemoteError(.unreachable, "away")), "away")
        _ = try run.loop.failed(.pull, away, at: run.now)
        guard case .wait(let until?) = run.loop.next(at: run.now) else {
            Issue.record("it does not wait")
            return
        }
        #expect(until > run.now)
        run.loop.receive(.network(isMetered: isMetered), at: run.now)
        try run.step()
        try run.step()
        guard run.steps.count == 2, case .recover = run.steps[0], case .check = run.steps[1] else {
            Issue.record("\(run.steps)")
            return
        }
    }

    @Test("items that are ready all the time keep no round from its end")
    func readyWithoutEnd() throws {
        var run = try Run()
        run.loop.receive(.disk(DiskChange(isNudge: true)), at: run.now)
        for _ in 0..<20 {
            try run.step { _ in
                var report = SyncReport()
                report.ready = [ItemID(3)]
                return report
            }
        }
        #expect(run.count { if case .delete = $0 { true } else { false } } >= 1, "\(run.steps)")
    }

    @Test("what was refused once is tried again at once")
    func refusedOnce() throws {
        var run = try Run()
        run.save("note")
        try run.rest { step in
            var report = SyncReport()
            if case .scan(.files) = step { report.ready = [ItemID(3)] }
            if case .settle = step {
                report.done = 1
                report.refuse(ItemID(4), "busy")
            }
            return report
        }
        #expect(run.count { if case .sync = $0 { true } else { false } } == 1)
    }

    @Test(
        "a sync that has an end waits for what may pass by itself, and for no refusal that stays",
        arguments: [
            (Refusal.passing, 2), (.answered, 0), (.lasting, 0), (.role, 0), (.breach, 0),
        ])
    func waitsInAgreement(refusal: Refusal, waits: Int) throws {
        var run = Run(to: .agreement(retries: 2))
        var (waited, isOver) = (0, false)
        for _ in 0..<100 where !isOver {
            let isWaiting = run.loop.busy(at: run.now).contains(ItemID(4))
            let step = try run.step { step in
                var report = SyncReport()
                if case .sync = step, !isWaiting {
                    report.refuse(ItemID(4), "no", refusal)
                }
                return report
            }
            switch step {
            case .wait(let until):
                waited += 1
                run.now = try #require(until)
            case .end: isOver = true
            default: break
            }
        }
        #expect(isOver && waited == waits)
    }

    @Test("a server that answers reads and fails each write gets a rest, however long its answers take")
    func failingWrites() throws {
        var run = try Run()
        run.save("note")
        var calls = 0
        do {
            while calls < 50 {
                try run.step { step in
                    var report = SyncReport()
                    switch step {
                    case .scan(.files): report.ready = [ItemID(3)]
                    case .settle, .sync:
                        calls += 1
                        report.failure = RemoteError(.unreachable, "busy")
                        report.distrustFeed(.echoExpected)
                    default: break
                    }
                    return report
                }
                run.now = run.now + .milliseconds(300)
            }
        } catch is RemoteError {}
        #expect(calls < 10)
    }

    @Test("a folder that was made is scanned, and needs no round for that")
    func newFolder() throws {
        var run = try Run()
        run.save("note")
        try run.rest { step in
            var report = SyncReport()
            if case .scan(.files) = step { report.ready = [ItemID(3)] }
            if case .settle = step { (report.done, report.newFolders) = (1, [ItemID(7)]) }
            return report
        }
        #expect(run.count { if case .scan(.folders([ItemID(7)])) = $0 { true } else { false } } == 1)
        #expect(run.count { if case .sync = $0 { true } else { false } } == 0)
    }

    /// A page of the journal, of which the session says what it has changed.
    private static let page = SessionEvent.polled(
        .page(
            SyncChanges(
                page: SyncPage(isReset: false, cursor: "2", sequence: nil, hasMore: false, entries: []), contents: []),
            after: "1"))

    @Test("what a page of the server has changed is planned alone, unless others must be decided with it")
    func pageAlone() throws {
        for needsRound in [false, true] {
            var run = try Run()
            run.loop.receive(Self.page, at: run.now)
            try run.rest { step in
                var report = SyncReport()
                if case .ingest = step {
                    (report.hasChanges, report.ready, report.needsRound) = (true, [ItemID(3)], needsRound)
                }
                if case .settle = step { report.done = 1 }
                return report
            }
            #expect(run.count { if case .settle([ItemID(3)]) = $0 { true } else { false } } == (needsRound ? 0 : 1))
            #expect(run.count { if case .sync = $0 { true } else { false } } == (needsRound ? 1 : 0))
            #expect(run.count { if case .conclude = $0 { true } else { false } } == 1)
        }
    }

    /// How often deletions are judged in a round that plans these.
    private func judgements(
        _ run: inout Run, planning deletions: [ItemID], _ verdict: DeletionGuard.Verdict? = nil
    ) throws -> Int {
        run.steps = []
        run.loop.receive(Self.page, at: run.now)
        var left = deletions
        try run.rest { step in
            var report = SyncReport()
            if case .ingest = step { report.noteChanges() }
            if case .sync = step { (report.deletions, left) = (left, []) }
            if case .delete = step { report.verdict = verdict }
            return report
        }
        return run.count { if case .delete = $0 { true } else { false } }
    }

    @Test("deletions are judged when some are planned, and once more after some were held")
    func judged() throws {
        var run = try Run()
        #expect(try judgements(&run, planning: []) == 0)
        #expect(try judgements(&run, planning: [ItemID(3)]) == 1)
        let many = (1...60).map { DeletionGuard.Candidate(operation: .server(ItemID($0), .delete), weight: 1) }
        var deletions = DeletionGuard(DeleteGuard(), approvesAll: false)
        let verdict = deletions.judge(many, of: 60, approved: [], held: [], isSettling: false, at: run.now)
        #expect(verdict.held.count == 60)
        #expect(try judgements(&run, planning: many.map(\.operation.item), verdict) == 1)
        #expect(try judgements(&run, planning: []) == 1)
        #expect(try judgements(&run, planning: []) == 0)
    }

    @Test("very many files that are ready are left to a round, which goes in slices")
    func manyReady() throws {
        var run = try Run()
        run.save("one")
        try run.rest { step in
            var report = SyncReport()
            if case .scan(.files) = step { report.ready = Set((1...5_000).map { ItemID($0) }) }
            return report
        }
        #expect(run.count { if case .settle = $0 { true } else { false } } == 0)
        #expect(run.count { if case .sync = $0 { true } else { false } } == 1)
    }
}
