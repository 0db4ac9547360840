import DownloadBoard
import ExampleSupport
import TestSupport
import Testing

private let meets = "'downloads --session background' meets"

/// The board of `downloads`, and what shows it on a terminal, without either.
@Suite("The board of downloads") struct DownloadBoardTests {
    private static func board(
        _ count: Int, isAttended: Bool = true, isInPieces: Bool = false, id: String? = nil
    ) -> Board {
        Board(
            (1...count).map {
                Board.Download(
                    url: "http://club.example/\($0).jpg", name: "\($0).jpg", file: "/tmp/\($0).jpg", id: id,
                    isInPieces: isInPieces)
            }, isAttended: isAttended)
    }

    private static func board(in state: Board.State) -> Board {
        var board = board(1)
        _ = board.handle(.became(0, state, state == .failed ? Failure(.unavailable, "no network") : nil))
        return board
    }

    @Test(
        "a letter is a command where the download's state allows it",
        arguments: [
            (.waiting, "p", .pause(0)), (.running, "p", .pause(0)), (.paused, "p", nil), (.failed, "p", nil),
            (.cancelled, "p", nil), (.waiting, "r", nil), (.running, "r", nil), (.paused, "r", .resume(0)),
            (.failed, "r", .resume(0)), (.cancelled, "r", .resume(0)), (.waiting, "c", .cancel(0)),
            (.running, "c", .cancel(0)), (.paused, "c", .cancel(0)), (.failed, "c", nil), (.cancelled, "c", nil),
            (.running, "x", nil), (.running, "P", nil), (.running, "é", nil), (.paused, "q", .leave),
        ] as [(Board.State, Character, Board.Command?)])
    func letters(state: Board.State, letter: Character, command: Board.Command?) {
        var board = Self.board(in: state)
        #expect(board.handle(.key(.text(letter))) == (command.map { [$0] } ?? []))
        // A letter changes nothing by itself.
        #expect(board.downloads.map(\.state) == [state])
    }

    @Test("arrows and digits select a download that is there")
    func selection() {
        var board = Self.board(3)
        var seen: [Int] = []
        for key in [Key.up, .down, .down, .down, .text("1"), .text("4"), .text("0"), .text("3"), .text("٢"), .enter] {
            #expect(board.handle(.key(key)).isEmpty)
            seen.append(board.selected)
        }
        #expect(seen == [0, 1, 2, 2, 0, 0, 0, 2, 2, 2])
        #expect(board.handle(.key(.text("p"))) == [.pause(2)])
    }

    @Test("bytes that move make a waiting download run, and counters that come late change nothing")
    func progress() {
        var board = Self.board(1)
        func progress(_ bytes: Int64) -> Board.Event { .progress(0, bytes: bytes, total: 100, bytesPerSecond: 5) }
        _ = board.handle(progress(0))
        #expect(board.downloads[0].state == .waiting && board.downloads[0].total == 100)
        _ = board.handle(progress(10))
        #expect(board.downloads[0].state == .running && board.downloads[0].bytesPerSecond == 5)
        _ = board.handle(.became(0, .paused))
        _ = board.handle(progress(20))
        #expect(board.downloads[0].state == .paused && board.downloads[0].bytes == 20)
        #expect(board.downloads[0].bytesPerSecond == 0)
        _ = board.handle(.became(0, .cancelled))
        _ = board.handle(progress(30))
        #expect(board.downloads[0].bytes == 20)
        _ = board.handle(.became(0, .done))
        _ = board.handle(.became(0, .failed))
        #expect(board.downloads[0].state == .done)
        _ = board.handle(.became(7, .done))

        // The daemon's word counts for a download in the background.
        var background = Self.board(1, id: "5349d11e8b8aad24")
        _ = background.handle(progress(10))
        #expect(background.downloads[0].state == .waiting && background.downloads[0].bytes == 10)
    }

    @Test("a download waits for the network until the server answers, and goes on or begins anew where it says so")
    func network() {
        var board = Self.board(1)
        func line() -> String { board.downloads[0].line }
        func progress(_ bytes: Int64) { _ = board.handle(.progress(0, bytes: bytes, total: 1000, bytesPerSecond: 0)) }
        _ = board.handle(.offline(0))
        #expect(line() == "1.jpg: waiting for the network")
        #expect(board.rows(columns: 80, lines: 5)[0].text == ">1  1.jpg  waiting for the network  ")
        _ = board.handle(.answered(0))
        #expect(line() == "1.jpg: waiting")
        progress(100)
        _ = board.handle(.answered(0))
        #expect(line() == "1.jpg: running, 10.0% of 1.0 kB")

        _ = board.handle(.offline(0))
        // Counters of the lost connection.
        progress(200)
        #expect(line() == "1.jpg: waiting for the network, 20.0% of 1.0 kB")
        _ = board.handle(.answered(0))
        _ = board.handle(.resumed(0, at: 200, total: 1000))
        #expect(line() == "1.jpg: running, 20.0% of 1.0 kB, goes on at 200 bytes")
        progress(300)
        #expect(line() == "1.jpg: running, 30.0% of 1.0 kB, goes on at 200 bytes")
        _ = board.handle(.resumed(0, at: 0, total: 500))
        progress(50)
        #expect(line() == "1.jpg: running, 5.0% of 1.0 kB, begins anew")

        // A paused one stays paused, and still waits for the network when it is resumed.
        _ = board.handle(.became(0, .paused))
        _ = board.handle(.offline(0))
        #expect(line() == "1.jpg: paused, 5.0% of 1.0 kB")
        _ = board.handle(.became(0, .waiting))
        #expect(line() == "1.jpg: waiting for the network, 5.0% of 1.0 kB")
        #expect(board.handle(.key(.text("c"))) == [.cancel(0)])
        _ = board.handle(.became(0, .cancelled))
        for event in [Board.Event.offline(0), .answered(0), .resumed(0, at: 7, total: nil), .offline(7)] {
            _ = board.handle(event)
            #expect(line() == "1.jpg: cancelled, 5.0% of 1.0 kB")
        }
    }

    @Test("without keys, a download that waits for the network keeps the program")
    func offline() {
        var board = Self.board(2, isAttended: false)
        #expect(board.handle(.became(0, .done)).isEmpty && board.handle(.offline(1)).isEmpty)
        #expect(board.handle(.became(1, .done)) == [.leave])
    }

    @Test("pieces are counted, and come again from the first after a cancel")
    func pieces() {
        var board = Self.board(1, isInPieces: true)
        for _ in 0..<3 { _ = board.handle(.piece(0, bytes: 10, total: nil, bytesPerSecond: 0)) }
        #expect(board.downloads[0].pieces == 3 && board.downloads[0].bytes == 30 && board.downloads[0].lastPiece == 10)
        #expect(board.downloads[0].state == .running)
        _ = board.handle(.became(0, .cancelled))
        _ = board.handle(.became(0, .waiting))
        #expect(board.downloads[0].pieces == 0 && board.downloads[0].bytes == 0)
    }

    @Test("with keys it waits for what is not done, and without keys for what is under way; it leaves once")
    func leaving() {
        for isAttended in [true, false] {
            var board = Self.board(2, isAttended: isAttended)
            #expect(board.handle(.became(0, .done)).isEmpty)
            #expect(board.handle(.became(1, .failed)) == (isAttended ? [] : [.leave]))
            if isAttended { #expect(board.handle(.key(.text("r"))).isEmpty) }
            #expect(board.handle(.key(.text("2"))).isEmpty)
            #expect(board.handle(.key(.text("r"))) == (isAttended ? [.resume(1)] : []))
            #expect(board.handle(.became(1, .done)) == (isAttended ? [.leave] : []))
            #expect(board.handle(.key(.text("q"))).isEmpty && board.handle(.stop(.terminated)).isEmpty)
        }
    }

    @Test("the end is judged by what is missing, and by who ended it")
    func outcomes() {
        func end(_ events: [Board.Event], _ survival: Board.Survival = .parts) -> Failure.Code? {
            var board = Self.board(2)
            for event in events { _ = board.handle(event) }
            return board.ending(survival).code
        }
        let (done, lost) = (Board.Event.became(0, .done), Failure(.unavailable, "no network"))
        #expect(end([done, .became(1, .done)]) == nil)
        #expect(end([done, .became(1, .done), .stop(.terminated)]) == nil)
        #expect(end([done, .became(1, .failed, lost)]) == .partlyDone)
        #expect(end([.became(0, .failed, lost), .became(1, .failed, lost)]) == .unavailable)
        #expect(end([.became(0, .failed, lost), .became(1, .failed, Failure(.notFound, ""))]) == .partlyDone)
        #expect(end([.became(0, .cancelled), .became(1, .cancelled)]) == .partlyDone)
        #expect(end([done, .key(.text("q"))]) == .partlyDone)
        #expect(end([done, .key(.text("q"))], .downloads) == nil)
        #expect(end([done, .became(1, .paused), .key(.text("q"))], .downloads) == .partlyDone)
        #expect(end([done, .became(1, .cancelled)], .downloads) == .partlyDone)
        // The other one goes on.
        #expect(end([.became(1, .failed, lost)], .downloads) == .partlyDone)
        #expect(end([.key(.interrupt), .stop(.terminated)]) == .interrupted)
        #expect(end([.stop(.terminated)], .downloads) == .terminated)
    }

    @Test(
        "the last line says what becomes of each download that is left",
        arguments: [
            ([.running, .waiting], .downloads, "2 go on in the background; \(meets) them again"),
            ([.done, .running], .downloads, "1 goes on in the background; \(meets) it again"),
            (
                [.cancelled, .running], .downloads,
                "1 of 2 not downloaded: 1 cancelled, 1 goes on in the background; \(meets) it again"
            ),
            (
                [.running, .failed], .downloads,
                "1 of 2 not downloaded: 1 failed, 1 goes on in the background; \(meets) it again"
            ),
            (
                [.paused, .running], .downloads,
                "1 of 2 not downloaded: 1 paused until r resumes it, 1 goes on in the background; \(meets) them again"
            ),
            (
                [.paused, .paused, .done], .downloads,
                "2 of 3 not downloaded: 2 paused until r resumes them; \(meets) them again"
            ),
            ([.cancelled, .failed], .downloads, "2 of 2 not downloaded: 1 failed, 1 cancelled"),
            ([.done, .done], .downloads, nil),
            ([.running, .done], .parts, "1 of 2 not downloaded; the same command goes on from here"),
            ([.paused, .cancelled], .nothing, "2 of 2 not downloaded; the same command begins anew"),
            ([.failed, .failed], .parts, "2 of 2 not downloaded"), ([.done], .nothing, nil),
        ] as [([Board.State], Board.Survival, String?)])
    func lastLines(states: [Board.State], survival: Board.Survival, words: String?) {
        var board = Self.board(states.count)
        for (place, state) in states.enumerated() {
            _ = board.handle(.became(place, state, state == .failed ? Failure(.unavailable, "no network") : nil))
        }
        #expect(board.ending(survival).words == words)
    }

    @Test("after a signal the last line says the same of each download")
    func stopped() {
        var board = Self.board(2)
        _ = board.handle(.became(0, .cancelled))
        _ = board.handle(.stop(.terminated))
        #expect(
            board.ending(.downloads).words == "stopped: 1 cancelled, 1 goes on in the background; \(meets) it again")
        #expect(board.ending(.parts).words == "stopped; the same command goes on from here")
        for place in 0...1 { _ = board.handle(.became(place, .done)) }
        #expect(board.ending(.downloads).words == nil && board.ending(.downloads).code == nil)
    }

    @Test("rows show number, name, state, bytes and rate, and no row is wider than the terminal")
    func rows() {
        var board = Self.board(3)
        _ = board.handle(.progress(0, bytes: 250_000, total: 1_000_000, bytesPerSecond: 1500))
        _ = board.handle(.became(1, .done))
        _ = board.handle(.became(2, .failed, Failure(.notFound, "the server answered 404")))
        _ = board.handle(.key(.down))
        let rows = board.rows(columns: 80, lines: 24)
        #expect(rows.map(\.text).first == " 1  1.jpg  running    25.0% of 1.0 MB, 1.5 kB/s")
        #expect(rows[1].text.hasPrefix(">2  2.jpg  done") && rows[1].isSelected && rows[1].tone == .good)
        #expect(rows[2].text == " 3  3.jpg  failed     the server answered 404" && rows[2].tone == .bad)
        #expect(rows[3].text.contains("q leaves") && rows.count == 4)
        #expect(rows[1].painted(hasColours: true).hasPrefix("\u{1B}[1;32m>2"))
        #expect(rows.map { $0.painted(hasColours: false) } == rows.map(\.text))
        for columns in [1, 20, 40, 120] {
            #expect(board.rows(columns: columns, lines: 24).allSatisfy { $0.text.count <= columns })
        }
        var many = Self.board(30)
        for selected in 0..<30 {
            let shown = many.rows(columns: 80, lines: 10)
            #expect(shown.count == 9 && shown.contains { $0.isSelected && $0.text.hasPrefix(">") }, "\(selected)")
            _ = many.handle(.key(.down))
        }
    }

    @Test("any events in any order keep the board sound")
    func anyOrder() {
        let seed = UInt64.random(in: 1...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<300 {
            var board = Self.board(
                Int.random(in: 1...12, using: &generator), isAttended: Bool.random(using: &generator))
            var leaves = 0
            for _ in 0..<40 {
                let place = Int.random(in: -1...12, using: &generator)
                let bytes = Int64.random(in: -5...Int64.max, using: &generator)
                let keys: [Key] = [.up, .down, .enter, .redraw, .text("p"), .text("r"), .text("c"), .text("7")]
                let event: Board.Event =
                    switch Int.random(in: 0..<11, using: &generator) {
                    case 0: .progress(place, bytes: bytes, total: bytes, bytesPerSecond: .greatestFiniteMagnitude)
                    case 1: .piece(place, bytes: 7, total: nil, bytesPerSecond: 1)
                    case 2...4: .became(place, Board.State.allCases.randomElement(using: &generator) ?? .done)
                    case 8: .offline(place)
                    case 9: .answered(place)
                    case 10: .resumed(place, at: bytes, total: Bool.random(using: &generator) ? bytes : nil)
                    case 5...6: .key(keys.randomElement(using: &generator) ?? .up)
                    default: round % 7 == 0 ? .stop(.terminated) : .key(.enter)
                    }
                let done = board.downloads.map { $0.state == .done }
                for command in board.handle(event) { if command == .leave { leaves += 1 } }
                #expect(board.downloads.indices.contains(board.selected), "seed \(seed)")
                #expect(zip(done, board.downloads).allSatisfy { !$0 || $1.state == .done }, "seed \(seed)")
                let rows = board.rows(columns: 30, lines: 8)
                #expect(rows.count <= 7 && rows.allSatisfy { $0.text.count <= 30 }, "seed \(seed)")
            }
            #expect(leaves <= 1, "seed \(seed)")
        }
    }
}

/// The keys and the rows of the examples' terminal, without a terminal.
@Suite("Keys and rows of the examples") struct ExampleTerminalTests {
    @Test(
        "bytes are keys",
        arguments: [
            ("p", [.text("p")]), ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OA", [.up]), ("\u{1B}[1;5A", [.up]),
            ("\u{3}\u{4}\u{1C}", [.interrupt, .end, .interrupt]),
            ("\r\n\u{7F}\u{8}", [.enter, .enter, .backspace, .backspace]),
            ("ü渡🎈", [.text("ü"), .text("渡"), .text("🎈")]), ("\u{1B}", []), ("\u{1B}q", []),
            ("\u{1B}[3~q", [.text("q")]),
            ("\u{1B}\u{1B}[B", [.down]), ("\u{1}\u{0}\u{1A}\t", []),
            ("\u{1B}[" + String(repeating: "1", count: 40), nil),
        ] as [(String, [Key]?)])
    func keys(text: String, keys: [Key]?) {
        var parser = KeyParser()
        let found = parser.take(Array(text.utf8))
        if let keys { #expect(found == keys) }
        // Whatever came before, a key that is complete counts.
        _ = parser.take([0x1B])
        #expect(parser.take(Array("q".utf8)).last == .text("q") || keys == nil)
    }

    @Test("bytes may come one by one, and any bytes are read to their end")
    func pieces() {
        var parser = KeyParser()
        #expect("a渡🎈b".utf8.flatMap { parser.take([$0]) } == [.text("a"), .text("渡"), .text("🎈"), .text("b")])
        #expect(parser.take([0x1B, 0x5B]).isEmpty && parser.take([0x42]) == [.down])
        #expect(parser.take([0xE6, 0x70, 0xFF, 0xC0, 0x71]) == [.text("p"), .text("q")])
        let seed = UInt64.random(in: 1...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            var parser = KeyParser()
            let bytes = (0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(parser.take(bytes).count <= bytes.count, "seed \(seed)")
            _ = parser.take(Array("xxxxxxxxxxxxxxxxxxxx".utf8))
            #expect(parser.take(Array("q".utf8)) == [.text("q")], "seed \(seed): \(bytes)")
        }
    }

    @Test("rows are drawn in place of those before, and lines above them stay")
    func region() {
        var region = LiveRegion()
        #expect(region.draw(["a", "b"]) == "\r\u{1B}[?25l\u{1B}[?7la\u{1B}[K\nb\u{1B}[K\u{1B}[J\u{1B}[?7h")
        #expect(region.draw(["c"]).hasPrefix("\r\u{1B}[1A\u{1B}[?25l"))
        #expect(region.write("x\n", above: ["d"]).hasPrefix("\r\u{1B}[Jx\n\r\u{1B}[?25l"))
        #expect(region.end() == "\n\u{1B}[?25h" && region.end().isEmpty)
        _ = region.draw(["a", "b", "c"])
        #expect(region.clear() == "\r\u{1B}[2A\u{1B}[J\u{1B}[?25h" && region.clear().isEmpty)
    }
}
