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
        var (up, down, digests) = (Runs(), Runs(), Runs())
        let count = max(1, settings.notes / perBatch) * perBatch
        for connections in [1, 4, 8] {
            for _ in 0..<settings.rounds {
                let folder = settings.folder("batch")
                defer { settings.discard(folder) }
                let club = try await Club.open(["ann"], in: folder)
                let wire = Wire(port: club.server.port, token: club.tokens[0])
                let requests = (0..<(count / perBatch)).map { wire.batch($0) }
                up.add("\(connections) connections", try await wire.upload(requests, over: connections))
                if connections == 4 {
                    down.add("journal", try await wire.download(count))
                    digests.add("digest", try await wire.digest(folders: requests.count))
                }
                await club.close()
            }
        }
        let title = "\(count) notes of 1.5 KiB, \(perBatch) to a batch and a folder"
        return [
            up.table(title + ", up, durable", unit: "notes/s", amount: Double(count), reference: "1 connections"),
            down.table(title + ", down with contents", unit: "notes/s", amount: Double(count), reference: "journal"),
            digests.table(title + ", digests of all", unit: "notes/s", amount: Double(count), reference: "digest"),
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
            let done = try await withThrowingTaskGroup(of: Int.self) { group in
                for first in 0..<connections {
                    group.addTask {
                        try await answers { client in
                            var done = 0
                            for index in stride(from: first, to: requests.count, by: connections) {
                                let outcome = try JSONReader.read(
                                    SyncOutcome.self, from: client.body(of: requests[index]))
                                done += outcome.results.count(where: \.isDone)
                            }
                            return done
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            return try measurement(since: start, done, of: requests.count * perBatch)
        }

        func download(_ count: Int) async throws -> Measurement {
            let start = ContinuousClock.now
            let read = try await answers { client in
                var read = 0
                var cursor = ""
                while true {
                    let target = "GET /1/sync/changes?limit=5000" + (cursor.isEmpty ? "" : "&cursor=\(cursor)")
                    guard let frame = SyncFrame(try client.body(of: head(target, []))) else { return read }
                    let page = try JSONReader.read(SyncPage.self, from: frame.head)
                    guard frame.bodies.count == page.entries.reduce(0, { $0 + Int($1.bytes) }) else { return read }
                    read += page.entries.count
                    if !page.hasMore { return read }
                    cursor = page.cursor
                }
            }
            return try measurement(since: start, read, of: count)
        }

        func digest(folders: Int) async throws -> Measurement {
            let start = ContinuousClock.now
            let found = try await answers { client in
                try JSONReader.read(SyncDigest.self, from: client.body(of: head("GET /1/sync/digest", []))).folders
                    .count
            }
            return try measurement(since: start, found, of: folders)
        }

        /// Counts something in the answers on a connection, on a thread of its own.
        private func answers(_ count: @escaping @Sendable (inout LoadClient) throws -> Int) async throws -> Int {
            try await BackgroundThread.run { () -> Result<Int, any Error> in
                Result {
                    var client = try LoadClient(port: port)
                    defer { client.end() }
                    return try count(&client)
                }
            }.get()
        }

        private func measurement(
            since start: ContinuousClock.Instant, _ found: Int, of expected: Int
        ) throws -> Measurement {
            guard found == expected else {
                throw Stopwatch.Failure(description: "only \(found) of \(expected) were in the answers")
            }
            return Measurement(seconds: Stopwatch.seconds(since: start))
        }

        private func head(_ line: String, _ fields: [String]) -> [UInt8] {
            let lines = [line + " HTTP/1.1", "Host: 127.0.0.1:\(port)", "Authorization: Bearer \(token)"] + fields
            return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        }
    }
}

extension LoadClient {
    /// The body of the answer to a request that succeeds.
    fileprivate mutating func body(of request: [UInt8]) throws -> [UInt8] {
        let answer = try exchange(request)
        guard answer.status == 200 else { throw Stopwatch.Failure(description: "status \(answer.status)") }
        return answer.body
    }
}
