import ByteClubCore
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI
@testable import ByteClubHTTP

/// Lists and waits of background transfers, without a daemon.
@Suite struct TransferTests {
    private func id(_ number: UInt64) -> BackgroundTask.ID { BackgroundTask.ID(number: number) }

    @Test("a transfer is named by at least four digits that no other one begins with")
    func ids() throws {
        let ids = TransferIDs([id(0x1234_5678_9abc_def0), id(0x1234_5678_9abc_def1), id(0x1299_0000_0000_0000)])
        #expect(try ids.resolve(["1299", "12990000"]) == [id(0x1299_0000_0000_0000)])
        #expect(try ids.resolve(["123456789ABCDEF1"]) == [id(0x1234_5678_9abc_def1)])
        #expect(ids.short(id(0x1299_0000_0000_0000)) == "12990000")
        #expect(ids.short(id(0x1234_5678_9abc_def0)) == "123456789abcdef0")
        for (word, status) in [
            ("123", ExitStatus.usage), ("12345", .usage), ("x234", .usage), ("", .usage), ("+1234", .usage),
            ("12345678901234567", .usage), ("4321", .noInput),
        ] {
            let failure = #expect(throws: Failure.self) { try ids.resolve([word]) }
            #expect(failure?.status == status, "\(word)")
        }
    }

    @Test("a transfer's object has what programs need, and times and rates only while they mean something")
    func object() throws {
        var status = try Transfers.upload(
            0xab, "ridge.jpg", .running, bytes: 30 << 20, of: 40 << 20, rate: 2_097_152)
        let text = String(decoding: try JSON.line(TransferList([status])), as: UTF8.self)
        #expect(
            text == #"[{"bytes":31457280,"id":"00000000000000ab","kind":"upload","label":"ridge.jpg","rate":2097152,"#
                + #""state":"running","timeLeft":5,"total":41943040}]"# + "\n")
        // Programs can rely on every field.
        status.total = nil
        let unknown = String(decoding: try JSON.line(TransferList([status])), as: UTF8.self)
        #expect(unknown.contains(#""total":null"#), "\(unknown)")
        status.state = .paused
        let paused = TransferObject(status, id: "")
        #expect(paused.rate == 0 && paused.timeLeft == nil)
        status.state = .done
        status.result = BackgroundResult(bytes: Array("/byteclub/photos/ridge (1).jpg".utf8))
        #expect(TransferObject(status, id: "").message == "/byteclub/photos/ridge (1).jpg")
        status.bytesPerSecond = .infinity
        status.state = .running
        #expect(TransferObject(status, id: "").rate == 0)
    }

    @Test("where there are more transfers than rows, those that are done are left out first, and counted")
    func rows() throws {
        var list = TransferList([
            try Transfers.upload(1, "a.jpg", .done), try Transfers.upload(2, "b.jpg", .running),
            try Transfers.upload(3, "c.jpg", .failed),
        ])
        list.rows = 3
        #expect(!list.text(TextStyle(calendar: { .utc($0) }, columns: 80)).contains("more"))
        list.rows = 2
        let text = list.text(TextStyle(calendar: { .utc($0) }, columns: 80))
        #expect(text.contains("b.jpg") && !text.contains("c.jpg") && text.hasSuffix("\nand 2 more"), "\(text)")
        // Remarks count as rows, too.
        let failure = BackgroundFailure(code: "badData", message: "no photo")
        for count in 1...8 {
            var list = TransferList(
                try (1...UInt64(count)).map { try Transfers.upload($0, "\($0).jpg", .failed, failure: failure) })
            for rows in 2...10 {
                list.rows = rows
                let lines = list.text(TextStyle(calendar: { .utc($0) }, columns: 80)).split(separator: "\n")
                #expect(lines.count <= rows + 1, "\(count) transfers in \(rows) rows")
            }
        }
    }

    @Test("a wait is over when all have ended, held when a person is needed, and knows how far all are together")
    func waiting() throws {
        let running = try Transfers.upload(1, "a.jpg", .running, bytes: 30, of: 40, rate: 5)
        let waiting = try Transfers.upload(2, "b.jpg", .waiting, of: 60)
        var wait = TransferWait(for: [running.id, waiting.id])
        #expect(wait.take([running, waiting, try Transfers.upload(3, "c.jpg", .failed)]).isEmpty)
        #expect(!wait.isOver && !wait.isHeld)
        let progress = wait.progress(after: 9)
        #expect(progress.percent == 30 && progress.secondsLeft == 14 && progress.name == "0 of 2 transfers")
        var (done, paused) = (running, waiting)
        (done.state, done.bytes, paused.state) = (.done, 40, .paused)
        #expect(wait.take([done, paused]).map(\.id) == [done.id])
        #expect(wait.isHeld && !wait.hasFailures && wait.progress(after: 9).percent == 40)
        paused.state = .failed
        #expect(wait.take([done, paused]).map(\.id) == [paused.id], "nothing is told twice")
        #expect(wait.isOver && wait.hasFailures && wait.ended.count == 2)
        // The transfer was removed.
        var forgotten = TransferWait(for: [running.id])
        #expect(forgotten.take([]).isEmpty && forgotten.isOver && !forgotten.hasFailures)
    }

    @Test("programs are told each transfer's start, a line a second, its end, and one sum")
    func waitEvents() throws {
        var running = try Transfers.upload(1, "a.jpg", .waiting, bytes: 10, of: 40)
        let waiting = try Transfers.upload(2, "b.jpg", .waiting, of: 60)
        var wait = TransferWait(for: [running.id, waiting.id])
        var events = WaitEvents()
        func told(at now: Double, _ all: BackgroundStatus...) -> [String] {
            _ = wait.take(all)
            return events.take(wait, now: now, time: "now").map {
                "\($0.event) \($0.path ?? "") \($0.bytes) \($0.total ?? 0)"
            }
        }
        #expect(told(at: 0, running, waiting) == [])
        running.state = .running
        #expect(told(at: 7, running, waiting) == ["start /byteclub/photos/a.jpg 10 40"])
        running.bytes = 20
        #expect(told(at: 7.9, running, waiting) == [])
        #expect(told(at: 8, running, waiting) == ["progress /byteclub/photos/a.jpg 20 40"])
        #expect(told(at: 8.9, running, waiting) == [])
        running.state = .failed
        #expect(told(at: 9, running, waiting) == ["failed /byteclub/photos/a.jpg 20 40"])
        var done = waiting
        (done.state, done.bytes) = (.done, 60)
        #expect(
            told(at: 20, running, done)
                == ["start /byteclub/photos/b.jpg 60 60", "finish /byteclub/photos/b.jpg 60 60"])
        #expect(told(at: 30, running, done) == [])
        let sum = events.summary(time: "now")
        #expect(sum.event == .summary && sum.files == 1 && sum.failed == 1 && sum.bytes == 80 && sum.total == 100)
    }

    @Test("programs are told of no progress of a transfer that does not run, and of its failure when it is forgotten")
    func forgottenEvents() throws {
        var first = try Transfers.upload(1, "a.jpg", .running, bytes: 10, of: 40)
        var second = try Transfers.upload(2, "b.jpg", .waiting, of: 60)
        let third = try Transfers.upload(3, "c.jpg", .waiting, of: 100)
        var wait = TransferWait(for: [first.id, second.id, third.id])
        var events = WaitEvents()
        func told(at now: Double, _ all: BackgroundStatus...) -> [String] {
            _ = wait.take(all)
            return events.take(wait, now: now, time: "now").map {
                "\($0.event) \($0.path ?? "") \($0.bytes) \($0.total ?? 0)"
            }
        }
        func sum() -> [Int64?] {
            let sum = events.summary(time: "now")
            return [sum.files.map(Int64.init), sum.failed.map(Int64.init), sum.bytes, sum.total]
        }
        #expect(told(at: 0, first, second, third) == ["start /byteclub/photos/a.jpg 10 40"])
        #expect(sum() == [0, 3, 10, 200], "what has not come to its end counts as failed when nobody waits any more")
        for (state, now) in [(BackgroundStatus.State.paused, 2.0), (.waiting, 4)] {
            (first.state, first.bytes) = (state, 20)
            #expect(told(at: now, first, second, third) == [])
        }
        first.state = .running
        #expect(told(at: 6, first, second, third) == ["progress /byteclub/photos/a.jpg 20 40"])
        #expect(told(at: 7, second, third) == ["failed /byteclub/photos/a.jpg 20 40"])
        #expect(told(at: 9, second) == [], "what has not begun ends without a line")
        (second.state, second.bytes) = (.done, 60)
        #expect(
            told(at: 11, second) == ["start /byteclub/photos/b.jpg 60 60", "finish /byteclub/photos/b.jpg 60 60"])
        #expect(wait.isOver && sum() == [1, 2, 80, 200])
    }

    @Test("a list that is drawn again covers itself, and is not drawn while it stays as it is")
    func liveTable() throws {
        let frames = Mutex<[String]>([])
        let output = Output { bytes in frames.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
        var table = LiveTable()
        try table.show("NAME\na", on: output)
        try table.show("NAME\na", on: output)
        try table.show("NAME", on: output)
        #expect(
            frames.withLock { $0 } == [
                "NAME\u{1B}[K\na\u{1B}[K\n\u{1B}[J", "\r\u{1B}[2ANAME\u{1B}[K\n\u{1B}[J",
            ])
    }

    @Test("a notice of transfers names failures first, and counts the rest; no desktop finds markup in it")
    func words() throws {
        let bad = try Transfers.upload(
            1, "<b>&.jpg", .failed, failure: BackgroundFailure(code: "badData", message: "no <photo>"))
        #expect(
            TransferNotifier.words([bad]) == ("1 transfer failed", "<b>&.jpg: no <photo>"))
        let good = try (2...8).map { try Transfers.upload($0, "\($0).jpg", .done) }
        let (title, text) = TransferNotifier.words(good + [bad])
        #expect(title == "1 of 8 transfers failed")
        #expect(text.hasPrefix("<b>") && text.hasSuffix("\n5.jpg\nand 3 more"), "\(text)")
        #expect(TransferNotifier.words(good).title == "7 transfers done")
        #expect(Desktop.escaped("<b>&amp;") == "&lt;b&gt;&amp;amp;")
    }

    @Test("transfers that end together are told together; one that somebody cancelled is not told")
    func together() async throws {
        let told = Mutex<[String]>([])
        let notifier = TransferNotifier(Desktop { title, text in told.withLock { $0.append("\(title): \(text)") } })
        let all = try [
            Transfers.upload(1, "a.jpg", .done), Transfers.upload(2, "b.jpg", .done),
            Transfers.upload(3, "c.jpg", .failed, failure: BackgroundFailure(code: "cancelled", message: "cancelled")),
        ]
        await withTaskGroup { group in for status in all { group.addTask { await notifier.take(status) } } }
        let found = told.withLock { $0 }
        #expect(found.count == 1 && found.first?.hasPrefix("2 transfers done: ") == true, "\(found)")
    }

    @Test("there is a notifier only where there is a bus and the program")
    func desktop() async throws {
        let folder = try TemporaryDirectory()
        let bus = "unix:path=/run/user/1/bus"
        #expect(Desktop.find(["PATH": folder.path, "DBUS_SESSION_BUS_ADDRESS": bus]) == nil)
        try LocalFile.replace(folder.path + "/notify-send", with: Array("#!/bin/sh\n".utf8), mode: 0o755)
        #expect(Desktop.find(["PATH": folder.path, "DBUS_SESSION_BUS_ADDRESS": bus]) != nil)
        #expect(Desktop.find(["PATH": folder.path]) == nil)
    }
}
