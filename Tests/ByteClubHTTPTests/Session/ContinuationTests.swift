import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

extension Live {
    /// Where a download whose connection was lost continues, as the listeners hear it.
    @Suite struct ContinuationTests {
        private static let held = 100_000
        private static let old = VersionedFile.first
        private static let new = VersionedFile.second

        /// What a server has after it sent a part of the old version.
        enum Server: String, CaseIterable {
            /// The rest.
            case resumes
            /// Another version, sent with 200.
            case beginsAnew
            /// A shorter version, so that the part asked for does not exist: 416, and then 200.
            case hasNoSuchPart
            /// The same version, of which all bytes came before: 416 with that length.
            case hasNoMore
        }

        private func answer(_ server: Server, _ request: RecordedRequest, to peer: Peer) -> FaultServer.Next {
            switch (server, request.rangeStart) {
            case (.resumes, _), (.hasNoMore, _?): return Self.old.answer(request, to: peer)
            case (.hasNoSuchPart, _?):
                return peer.respond(416, "no", fields: ["Content-Range: bytes */9"]) ? .keep : .close
            case (.beginsAnew, _), (.hasNoSuchPart, nil), (.hasNoMore, nil): return Self.new.send(to: peer)
            }
        }

        @Test(
            "listeners hear where a download continues, and of offset 0 where it begins anew",
            arguments: Server.allCases)
        func offset(kind: Server) async throws {
            let hasCut = Atomic(false)
            let server = try FaultServer { peer, request in
                if hasCut.exchange(true, ordering: .relaxed) { return answer(kind, request, to: peer) }
                guard kind == .hasNoMore else { return Self.old.send(to: peer, cutAt: Self.held) }
                // All bytes, but without a length and an end.
                peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \(Self.old.tag)\r\n\r\n")
                peer.send(String(Self.old.count, radix: 16) + "\r\n")
                peer.send(Self.old.bytes)
                peer.send("\r\n")
                return .close
            }
            defer { server.stop() }
            let (first, whole) =
                switch kind {
                case .resumes: (Self.held, Self.old)
                case .hasNoMore: (Self.old.count, Self.old)
                case .beginsAnew, .hasNoSuchPart: (0, Self.new)
                }
            let folder = TemporaryFolder()
            let (log, events) = (CallbackLog(), OffsetLog())
            try await withSession {
                $0.retryPolicy = .standard
                $0.retryPolicy.firstDelay = .zero
                $0.eventMonitors = [events]
            } _: { session in
                let task = session.downloadTask(server.request(), to: folder.file("f"))
                task.resume()
                _ = try await task.value
                #expect(folder.read("f") == whole.bytes)
            }
            await events.ended.wait { !$0.isEmpty }
            #expect(events.offsets.entries == [OffsetLog.Offset(at: Int64(first), expected: Int64(whole.count))])

            hasCut.store(false, ordering: .relaxed)
            var id: UInt64 = 0
            try await withSession(
                {
                    $0.retryPolicy = .standard
                    $0.retryPolicy.firstDelay = .zero
                }, delegate: log
            ) { session in
                let task = session.downloadTask(server.request(), to: folder.file("g"))
                id = task.id
                task.resume()
                _ = try await task.value
            }
            await log.ended()
            var grammar = CallbackGrammar()
            let callbacks = log.callbacks(of: id)
            #expect(callbacks.allSatisfy { grammar.accepts($0) } && grammar.isComplete, "\(callbacks)")
            let mark = try #require(callbacks.firstIndex(of: .resumed(Int64(first), expected: Int64(whole.count))))
            #expect(mark > 0 && callbacks[mark - 1] == .response(200))
            #expect(callbacks.filter { if case .resumed = $0 { true } else { false } }.count == 1)
            // What was written afterwards is what was missing.
            let written = callbacks[mark...].reduce(Int64(0)) { sum, callback in
                if case .wrote(let count, _, _) = callback { sum + count } else { sum }
            }
            #expect(written == Int64(whole.count - first))
        }

        @Test("a download that was not begun before is not reported to continue")
        func plain() async throws {
            let server = try FaultServer { peer, request in Self.old.answer(request, to: peer) }
            defer { server.stop() }
            let folder = TemporaryFolder()
            let events = OffsetLog()
            try await withSession {
                $0.eventMonitors = [events]
            } _: { session in
                _ = try await session.download(for: server.request(), to: folder.file("f"))
            }
            await events.ended.wait { !$0.isEmpty }
            #expect(events.offsets.entries.isEmpty)
        }
    }
}

/// A monitor that writes down where downloads continue.
private final class OffsetLog: EventMonitor {
    struct Offset: Hashable {
        var at: Int64
        var expected: Int64
    }

    let offsets = Log<Offset>()
    let ended = Log<Void>()

    func receive(_ event: TaskEvent, of task: SessionTask) async {
        if case .downloadResumed(let at, let expected) = event { offsets.add(Offset(at: at, expected: expected)) }
    }

    func sessionEnded(_ name: String) async { ended.add(()) }
}
