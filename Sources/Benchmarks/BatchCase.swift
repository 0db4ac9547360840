import ByteClubCore
import TestSupport

/// Many small notes through the extension: batches up, each durable when answered, and the journal down.
///
/// The requests are made beforehand and the contents of the answers are not looked at, so that it is the server that is
/// measured, which has all but one of the machine's cores to itself.
enum BatchCase {
    private static let noteSize = 1536
    private static let perBatch = 1000

    static func run(_ settings: Settings) async throws -> [Table] {
        var up: [(String, [Measurement])] = []
        var down: [Measurement] = []
        var digests: [Measurement] = []
        let count = max(1, settings.notes / perBatch) * perBatch
        for connections in [1, 4, 8] {
            var runs: [Measurement] = []
            for _ in 0..<settings.rounds {
                let folder = settings.folder("batch")
                defer { settings.discard(folder) }
                let club = try await Club.open(["ann"], in: folder)
                let wire = Wire(port: club.server.port, token: club.tokens[0])
                let requests = (0..<(count / perBatch)).map { wire.batch($0) }
                runs.append(try await wire.upload(requests, over: connections))
                if connections == 4 {
                    down.append(try await wire.download(count))
                    digests.append(try await wire.digest(folders: requests.count))
                }
                await club.close()
            }
            up.append(("\(connections) connections", runs))
        }
        let title = "\(count) notes of 1.5 KiB, \(perBatch) to a batch and a folder"
        return [
            Table.race(
                title + ", up, durable", unit: "notes/s", amount: Double(count), reference: up[0].0, up),
            Table.race(
                title + ", down with contents", unit: "notes/s", amount: Double(count), reference: "journal",
                [("journal", down)]),
            Table.race(
                title + ", digests of all", unit: "notes/s", amount: Double(count), reference: "digest",
                [("digest", digests)]),
        ]
    }

    /// Requests to a server, and the checks of their answers.
    private struct Wire: Sendable {
        let port: UInt16
        let token: String

        /// A batch of notes in a folder of their own, none like any other.
        func batch(_ number: Int) -> [UInt8] {
            var operations: [SyncOperation] = []
            var contents: [[UInt8]] = []
            func add(_ index: Int, _ action: SyncOperation.Action) {
                guard let id = OperationID("bench-\(1_000_000 + number * perBatch + index)") else { return }
                operations.append(SyncOperation(id, action))
            }
            add(0, .create(.init(.node(.root), "folder \(number)"), nil))
            let text = Array("The quick brown fox jumps over the lazy dog.\n".utf8)
            for index in 1..<perBatch {
                var note = Array("# Note \(index) of \(number)\n".utf8)
                while note.count < noteSize { note += text }
                contents.append(Array(note.prefix(noteSize)))
                let place = SyncOperation.Place(.operation(0), "note-\(index).md")
                add(index, .create(place, .init(bytes: Int64(noteSize))))
            }
            var json = JSONText()
            SyncBatch(operations).write(to: &json)
            let body = SyncFrame.join(json.bytes, contents)
            return head("POST /1/sync/batch", ["Content-Length: \(body.count)", "Content-Type: \(SyncFrame.mime)"])
                + body
        }

        func upload(_ requests: [[UInt8]], over connections: Int) async throws -> Measurement {
            let start = ContinuousClock.now
            let done = await withTaskGroup(of: Int.self) { group in
                for first in 0..<connections {
                    group.addTask {
                        await BackgroundThread.run {
                            guard var connection = Exchange(port: port) else { return 0 }
                            var done = 0
                            for index in stride(from: first, to: requests.count, by: connections) {
                                guard let answer = connection.send(requests[index]), answer.status == 200,
                                    let outcome = try? JSONReader.read(SyncOutcome.self, from: answer.body)
                                else { return done }
                                done += outcome.results.filter(\.isDone).count
                            }
                            return done
                        }
                    }
                }
                return await group.reduce(0, +)
            }
            guard done == requests.count * perBatch else {
                throw Stopwatch.Failure(description: "only \(done) notes were taken")
            }
            return Measurement(seconds: Stopwatch.seconds(since: start))
        }

        func download(_ count: Int) async throws -> Measurement {
            let start = ContinuousClock.now
            let told = await BackgroundThread.run { () -> Int in
                guard var connection = Exchange(port: port) else { return 0 }
                var told = 0
                var cursor = ""
                while true {
                    let target = "GET /1/sync/changes?limit=5000" + (cursor.isEmpty ? "" : "&cursor=\(cursor)")
                    guard let answer = connection.send(head(target, [])), answer.status == 200,
                        let frame = SyncFrame(answer.body),
                        let page = try? JSONReader.read(SyncPage.self, from: frame.head),
                        frame.bodies.count == page.entries.reduce(0, { $0 + Int($1.bytes) })
                    else { return told }
                    told += page.entries.count
                    if !page.hasMore { return told }
                    cursor = page.cursor
                }
            }
            guard told == count else { throw Stopwatch.Failure(description: "only \(told) entries were told") }
            return Measurement(seconds: Stopwatch.seconds(since: start))
        }

        func digest(folders: Int) async throws -> Measurement {
            let start = ContinuousClock.now
            let found = await BackgroundThread.run { () -> Int in
                guard var connection = Exchange(port: port),
                    let answer = connection.send(head("GET /1/sync/digest", [])), answer.status == 200
                else { return 0 }
                return (try? JSONReader.read(SyncDigest.self, from: answer.body))?.folders.count ?? 0
            }
            guard found == folders else { throw Stopwatch.Failure(description: "only \(found) folders were told") }
            return Measurement(seconds: Stopwatch.seconds(since: start))
        }

        private func head(_ line: String, _ fields: [String]) -> [UInt8] {
            let lines = [line + " HTTP/1.1", "Host: 127.0.0.1:\(port)", "Authorization: Bearer \(token)"] + fields
            return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        }
    }

    /// A connection that is kept for several requests.
    private struct Exchange: ~Copyable {
        private let connection: RawConnection

        init?(port: UInt16) {
            guard let connection = RawConnection(port: port, timeout: 60) else { return nil }
            self.connection = connection
        }

        mutating func send(_ request: [UInt8]) -> RawMessage? {
            guard connection.send(request) else { return nil }
            var bytes = connection.receive()
            guard let head = RawMessage(bytes), let length = head["Content-Length"].flatMap({ Int($0) }) else {
                return nil
            }
            let total = bytes.count - head.body.count + length
            bytes.reserveCapacity(total)
            while bytes.count < total {
                let more = connection.receive()
                if more.isEmpty { return nil }
                bytes += more
            }
            return RawMessage(bytes)
        }
    }
}
