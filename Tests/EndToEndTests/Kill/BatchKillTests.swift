import ByteClubCore
import ByteClubHTTP
import ByteClubRemotes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("kill -9 of the server under batches") struct BatchKillTests {
        private static let writers = 4
        private static let perBatch = 20

        /// One writer's batches: each is sent until it is answered, and then once more.
        private struct Writer {
            let remote: CoreAPIv1Remote
            let number: Int
            var next = 0
            var pending: (batch: SyncBatch, contents: [[UInt8]])?
            var answered: [SyncResult] = []
            var repeated = 0

            /// Sends batches until the server is gone.
            mutating func write() async {
                while true {
                    repeated += pending == nil ? 0 : 1
                    if pending == nil { pending = make() }
                    guard let (batch, contents) = pending else { return }
                    guard let outcome = try? await remote.apply(batch, contents: contents) else { return }
                    answered += outcome.results
                    pending = nil
                    guard next % 5 == 0 else { continue }
                    guard let again = try? await remote.apply(batch, contents: contents) else { return }
                    #expect(again.results == outcome.results)
                }
            }

            private mutating func make() -> (batch: SyncBatch, contents: [[UInt8]]) {
                let contents = (0..<perBatch).map { Array("note \(number) \(next) \($0)\n".utf8) }
                let operations = contents.indices.compactMap { index -> SyncOperation? in
                    let name = "\(number)-\(next)-\(index).md"
                    let content = SyncOperation.Content(bytes: Int64(contents[index].count))
                    return OperationID(name).map { SyncOperation($0, .create(.init(.node(.root), name), content)) }
                }
                next += 1
                return (SyncBatch(operations), contents)
            }
        }

        @Test("at random points does each operation once, however often it is sent, and keeps what was answered")
        func kills() async throws {
            var generator = SeededGenerator(seed: Sample.seed("batch kills"))
            let club = try await Club.start()
            let token = try await club.server.addMember("Batch")
            var writers: [Writer] = []
            for number in 0..<Self.writers {
                let session = try Session(
                    configuration: CoreAPIv1Remote.sessionConfiguration(token: token), name: "batches \(number)")
                writers.append(
                    Writer(remote: try CoreAPIv1Remote(origin: club.server.url, api: session), number: number))
            }
            let kills = max(10, Settings.kills / 5)
            for _ in 0..<kills {
                let delay = Duration.seconds(Double.random(in: 0.01..<0.1, using: &generator))
                writers = await withTaskGroup(of: Writer.self) { group in
                    for writer in writers {
                        group.addTask {
                            var writer = writer
                            await writer.write()
                            return writer
                        }
                    }
                    try? await ContinuousClock().sleep(for: delay)
                    await club.server.kill9()
                    return await group.reduce(into: [Writer]()) { $0.append($1) }
                }
                try await club.server.start()
            }
            try await Self.check(writers, kills)
        }

        private static func check(_ writers: [Writer], _ kills: Int) async throws {
            var found: [String: SyncEntry] = [:]
            var cursor: String?
            let remote = try #require(writers.first).remote
            repeat {
                let page = try await remote.journal(after: cursor, limit: 5000, contents: .none, wait: .zero).page
                for entry in page.entries where entry.name.hasSuffix(".md") {
                    #expect(found.updateValue(entry, forKey: entry.name) == nil, "\(entry.name) is there twice")
                }
                cursor = page.hasMore ? page.cursor : nil
            } while cursor != nil
            let answered = writers.flatMap(\.answered)
            let repeated = writers.reduce(0) { $0 + $1.repeated }
            for result in answered {
                let entry = try #require(result.entry, "\(result)")
                #expect(result.isDone && found[entry.name] == entry, "\(result)")
            }
            let unanswered = writers.reduce(0) { $0 + ($1.pending == nil ? 0 : perBatch) }
            #expect(found.count >= answered.count && found.count <= answered.count + unanswered)
            #expect(answered.count > kills && repeated > 0, "too little happened to tell anything")
            print("batch kills: \(kills), \(answered.count) answered operations, \(repeated) batches sent again")
        }
    }
}
