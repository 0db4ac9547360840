import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension TemporaryFolder {
    /// Returns once the one hidden file of a download has this many bytes.
    func partReached(_ count: Int) async throws {
        while true {
            var status = stat()
            let name = names.first { $0.hasPrefix(".byteclub-") }
            if let name, unsafe stat(file(name), &status) == 0, status.st_size >= count { return }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// The path of the one hidden file of a download.
    var part: String { file(names.first { $0.hasPrefix(".byteclub-") } ?? "none") }
}

extension Live {
    @Suite struct ResumeTaskTests {
        private static let file = VersionedFile.first
        private static let held = 100_000

        private static func hasRetries(_ configuration: inout SessionConfiguration) {
            configuration.retryPolicy = .standard
            configuration.retryPolicy.firstDelay = .milliseconds(5)
        }

        @Test(
            "a task whose connection is lost asks for the rest itself",
            arguments: [[0], [1], [1000], [16384], [65536], [262_144], [299_999], [1, 1000, 65536], [0, 7, 0]])
        func retries(cuts: [Int]) async throws {
            let answers = Atomic(0)
            let server = try FaultServer { peer, request in
                let index = answers.wrappingAdd(1, ordering: .relaxed).oldValue
                return Self.file.answer(request, to: peer, cutAt: index < cuts.count ? cuts[index] : nil)
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession(Self.hasRetries) { session in
                let last = LastProgress()
                let result = try await session.download(for: server.request(), to: folder.file("f")) { last.set($0) }
                var (expected, sum): ([Int?], Int) = ([nil], 0)
                for cut in cuts {
                    sum += cut
                    expected.append(sum > 0 ? sum : nil)
                }
                #expect(server.requests.map(\.rangeStart) == expected)
                #expect(result.response.status == .ok && folder.read("f") == Self.file.bytes && folder.names == ["f"])
                #expect(last.value?.bytesReceived == 300_000 && last.value?.bytesExpectedToReceive == 300_000)
                for (earlier, later) in zip(last.values, last.values.dropFirst()) where earlier.attempt == later.attempt
                {
                    #expect(earlier.bytesReceived <= later.bytesReceived)
                }
            }
        }

        @Test("a way that breaks again and again brings the file all the same, and each byte of it once")
        func brittle() async throws {
            let file = VersionedFile(bytes: noise(2 << 20, seed: 4), tag: #""a""#)
            let server = try FaultServer { peer, request in file.answer(request, to: peer, cutAt: 128 << 10) }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession {
                Self.hasRetries(&$0)
                $0.retryPolicy.initialBudget = 1
            } _: { session in
                _ = try await session.download(for: server.request(), to: folder.file("f"))
            }
            #expect(folder.read("f") == file.bytes && folder.names == ["f"])
            #expect(server.requests.compactMap(\.rangeStart) == (1..<16).map { $0 * (128 << 10) })
        }

        @Test("a way that breaks after a few bytes is given up after as many attempts as ever")
        func fruitless() async throws {
            let server = try FaultServer { peer, request in Self.file.answer(request, to: peer, cutAt: 1_000) }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession(Self.hasRetries) { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.download(for: server.request(), to: folder.file("f"))
                }
                #expect(error?.code == .connectionLost && error?.attempt == 4)
                #expect(error?.resumeData?.bytesReceived == 4_000)
            }
            #expect(server.requests.count == 4)
        }

        @Test("a server that sends pieces without end is asked as often as one that fails", arguments: [true, false])
        func endlessPieces(hasTag: Bool) async throws {
            let piece = String(repeating: "x", count: 65536)
            let server = try FaultServer { peer, _ in
                let tag = hasTag ? ["ETag: \"a\""] : []
                return peer.respond(206, piece, fields: ["Content-Range: bytes 0-65535/131072"] + tag) ? .keep : .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession(Self.hasRetries) { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.download(for: server.request(), to: folder.file("f"))
                }
                #expect(error?.code == .connectionLost, "\(String(describing: error))")
                #expect(server.requests.count <= 2 * RetryPolicy.standard.maximumAttempts)
            }
            #expect(folder.names == [])
        }

        @Test("a file that comes in more pieces than there are attempts is one response to a delegate")
        func pieces() async throws {
            let bytes = (0..<(10 * 65536)).map { UInt8(truncatingIfNeeded: $0 / 3) }
            let server = try FaultServer { peer, request in
                let start = request.rangeStart ?? 0
                let end = min(start + 65536, bytes.count)
                let fields = ["HTTP/1.1 206 X", "ETag: \"a\"", "Content-Length: \(end - start)"]
                let range = "Content-Range: bytes \(start)-\(end - 1)/\(bytes.count)"
                peer.send((fields + [range]).joined(separator: "\r\n") + "\r\n\r\n")
                return peer.send(Array(bytes[start..<end])) ? .keep : .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            let log = CallbackLog()
            try await withSession(Self.hasRetries, delegate: log) { session in
                let task = session.downloadTask(server.request(), to: folder.file("f"))
                task.resume()
                let result = try await task.value
                #expect(result.response.status == .ok && folder.read("f") == bytes)
                #expect(server.requests.count == 10)
                await session.finishTasksAndInvalidate()
                await log.ended()
                var grammar = CallbackGrammar()
                let callbacks = log.callbacks(of: task.id)
                #expect(callbacks.allSatisfy { grammar.accepts($0) } && grammar.isComplete, "\(callbacks)")
                #expect(!callbacks.contains(.response(206)))
            }
        }

        @Test("the limit of a body counts what was there before")
        func limit() async throws {
            let server = try FaultServer { peer, request in
                Self.file.answer(request, to: peer, cutAt: request.rangeStart == nil ? Self.held : nil)
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession(Self.hasRetries) { session in
                for (limit, code) in [(300_000, nil), (299_999, TransferError.Code.bodyTooLarge)] {
                    var options = TaskOptions()
                    // The first response's head is received, so that the second request is sent.
                    options.maximumBodyBytes = { response in
                        response.headerFields[.contentRange] == nil && response.status == .ok
                            ? Int64(limit) + (server.requests.count % 2 == 1 ? 1 : 0) : 0
                    }
                    let error = await failure { [options] () async throws(TransferError) in
                        try await session.download(for: server.request(), to: folder.file("\(limit)"), options: options)
                    }
                    #expect(error?.code == code && error?.resumeData == nil)
                }
                #expect(folder.names == ["300000"])
            }
        }

        /// A server that sends the first bytes, waits for the gate, and then responds correctly.
        private func stalling(_ gate: Gate, then end: @escaping @Sendable (Peer) -> FaultServer.Next) throws
            -> FaultServer
        {
            let hasStalled = Atomic(false)
            return try FaultServer { peer, request in
                if hasStalled.exchange(true, ordering: .relaxed) { return Self.file.answer(request, to: peer) }
                _ = Self.file.send(to: peer, cutAt: Self.held)
                gate.pass()
                return end(peer)
            }
        }

        @Test("a download that is cancelled with resume data goes on where it stopped", arguments: [false, true])
        func cancel(isSuspended: Bool) async throws {
            let gate = Gate()
            defer { gate.open() }
            let server = try stalling(gate) { _ in .close }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession { session in
                let task = session.downloadTask(server.request(), to: folder.file("f"))
                task.resume()
                try await folder.partReached(Self.held)
                if isSuspended { task.suspend() }
                async let other = task.cancelKeepingResumeData()
                let data = try #require(await task.cancelKeepingResumeData())
                #expect(await other?.temporaryFile == data.temporaryFile)
                let error = await failure { () async throws(TransferError) in try await task.value }
                #expect(error?.code == .cancelled && error?.resumeData?.bytes == data.bytes)
                #expect(data.bytesReceived == Int64(Self.held) && task.state == .completed)
                // Before the task starts, the part is unchanged.
                let unstarted = session.downloadTask(resuming: data, to: folder.file("f"))
                #expect(await unstarted.cancelKeepingResumeData()?.bytes == data.bytes)
                let again = session.downloadTask(resuming: data, to: folder.file("f"))
                again.resume()
                #expect(try await again.value.response.status == .ok)
                #expect(server.requests.map(\.rangeStart) == [nil, Self.held])
                #expect(folder.read("f") == Self.file.bytes && folder.names == ["f"])
                #expect(await again.cancelKeepingResumeData() == nil)
            }
        }

        @Test("a download that is just cancelled leaves nothing, nor does any other task")
        func plainCancel() async throws {
            let gate = Gate()
            defer { gate.open() }
            let server = try stalling(gate) { _ in .close }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession { session in
                let task = session.downloadTask(server.request(), to: folder.file("f"))
                task.resume()
                try await folder.partReached(Self.held)
                task.cancel()
                #expect(await task.cancelKeepingResumeData() == nil)
                #expect(folder.names.isEmpty)
                let data = session.dataTask(server.request())
                #expect(await data.cancelKeepingResumeData() == nil)
            }
        }

        @Test("a server that closes while the task is suspended is asked for the rest when it is resumed")
        func suspended() async throws {
            let gate = Gate()
            let server = try stalling(gate) { _ in .close }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession(Self.hasRetries) { session in
                var options = TaskOptions()
                options.rateLimit = 4 << 20
                let task = session.downloadTask(server.request(), to: folder.file("f"), options: options)
                task.resume()
                try await folder.partReached(Self.held)
                task.suspend()
                gate.open()
                try await Task.sleep(for: .milliseconds(50))
                #expect(server.requests.count == 1 && task.state == .suspended)
                task.resume()
                _ = try await task.value
                #expect(server.requests.map(\.rangeStart) == [nil, Self.held])
                #expect(folder.read("f") == Self.file.bytes && folder.names == ["f"])
            }
        }

        enum Damage: CaseIterable { case truncated, grown, replaced, removed }

        @Test(
            "a temporary file that is changed while it is written never becomes the file",
            arguments: Damage.allCases, [false, true])
        func damaged(damage: Damage, isCut: Bool) async throws {
            let gate = Gate()
            let server = try stalling(gate) { peer in
                let rest = Self.file.bytes[Self.held...]
                peer.send(Array(isCut ? rest.prefix(1000) : rest))
                return .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession(Self.hasRetries) { session in
                let task = session.downloadTask(server.request(), to: folder.file("f"))
                task.resume()
                try await folder.partReached(Self.held)
                let path = folder.part
                switch damage {
                case .truncated: _ = unsafe truncate(path, 1000)
                case .grown: _ = unsafe truncate(path, off_t(Self.held + 1))
                case .replaced: _ = unsafe rename(folder.write("x", Array(repeating: 9, count: Self.held)), path)
                case .removed: unsafe unlink(path)
                }
                gate.open()
                let error = await failure { () async throws(TransferError) in try await task.value }
                if isCut {
                    #expect(error == nil && folder.read("f") == Self.file.bytes)
                    #expect(server.requests.map(\.rangeStart) == [nil, nil])
                } else {
                    #expect(error?.code == .cannotWriteFile && error?.resumeData == nil)
                    #expect(!folder.names.contains("f"))
                }
            }
        }
    }
}
