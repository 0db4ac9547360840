import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct ResumeTests {
        private static let held = 100_000
        private static let old = VersionedFile.first
        private static let new = VersionedFile.second

        /// A download that was cut off after ``held`` bytes of the old version, and the server's next answers.
        private func afterCut(
            _ body: (Session, FaultServer, TemporaryFolder, ResumeData) async throws -> Void,
            answer: @escaping @Sendable (Peer, RecordedRequest) -> FaultServer.Next
        ) async throws {
            let hasCut = Atomic(false)
            let server = try FaultServer { peer, request in
                if !hasCut.exchange(true, ordering: .relaxed) { return Self.old.send(to: peer, cutAt: Self.held) }
                return answer(peer, request)
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.download(for: server.request(.get, "/f?key=1"), to: folder.file("f"))
                }
                let data = try #require(error?.resumeData)
                #expect(error?.code == .connectionLost && data.bytesReceived == Int64(Self.held))
                #expect(data.bytesExpectedToReceive == Int64(Self.old.count) && data.validator == Self.old.tag)
                #expect(data.url == "http://\(server.authority)/f?key=1" && !"\(data)".contains("key"))
                #expect(folder.names.count == 1 && folder.file(folder.names.first ?? "") == data.temporaryFile)
                try await body(session, server, folder, data)
            }
        }

        /// A server's response to a request for the rest, correct or wrong.
        enum Answer: String, CaseIterable {
            case right, earlierStart, laterStart, newTag, weakTag, noTag, noRange, newTotal, wrongLength, compressed
            case wholeAsPart, newWhole, noSuchPart, short, redirect, anyTotal
        }

        @Test("whatever a server sends for the rest, the file is one version of it", arguments: Answer.allCases)
        func matrix(answer: Answer) async throws {
            let (old, new, held) = (Self.old, Self.new, Self.held)
            try await afterCut { session, server, folder, data in
                let task = session.downloadTask(resuming: data, to: folder.file("f"))
                task.resume()
                let result = try await task.value
                let ranges = server.requests.dropFirst().map(\.rangeStart)
                switch answer {
                case .right, .anyTotal:
                    #expect(folder.read("f") == old.bytes && ranges == [held])
                    #expect(server.requests.last?["if-range"] == old.tag)
                case .short: #expect(folder.read("f") == old.bytes && ranges == [held, 2 * held])
                case .redirect: #expect(folder.read("f") == old.bytes && ranges == [held, held])
                case .newWhole, .wholeAsPart: #expect(folder.read("f") == new.bytes && ranges == [held])
                default: #expect(folder.read("f") == new.bytes && ranges == [held, nil])
                }
                let count = folder.read("f").map { Int64($0.count) }
                #expect(result.response.status == .ok && result.file == folder.file("f") && result.resumeData == nil)
                #expect(result.response.headerFields[.contentLength] == count.map(String.init))
                #expect(result.response.headerFields[.contentRange] == nil)
                #expect(result.progress.bytesReceived == count && result.progress.bytesExpectedToReceive == count)
                #expect(folder.names == ["f"])
            } answer: { peer, request in
                guard let start = request.rangeStart else { return new.send(to: peer) }
                let end = new.count
                switch answer {
                case .right: return old.answer(request, to: peer)
                case .anyTotal: return old.send(start..<old.count, to: peer, says: "bytes \(start)-\(old.count - 1)/*")
                case .short: return old.send(start..<min(start + held, old.count), to: peer)
                case .redirect:
                    if request.target == "/g" { return old.answer(request, to: peer) }
                    return peer.respond(302, "elsewhere", fields: ["Location: /g"]) ? .keep : .close
                case .newWhole: return new.send(to: peer)
                case .wholeAsPart: return new.send(0..<end, to: peer)
                case .earlierStart: return old.send(start - 10..<old.count, to: peer)
                case .laterStart: return old.send(start + 10..<old.count, to: peer)
                case .newTag:
                    return new.send(start..<old.count, to: peer, says: "bytes \(start)-\(old.count - 1)/\(old.count)")
                case .weakTag: return old.send(start..<old.count, to: peer, tag: #"W/"v1""#)
                case .noTag: return old.send(start..<old.count, to: peer, tag: .some(nil))
                case .noRange: return old.send(start..<old.count, to: peer, says: "bytes")
                case .newTotal: return new.send(start..<end, to: peer, tag: old.tag)
                case .wrongLength: return old.send(start..<old.count, to: peer, length: old.count - start - 1)
                case .compressed: return old.send(start..<old.count, to: peer, fields: ["Content-Encoding: gzip"])
                case .noSuchPart:
                    return peer.respond(416, "no", fields: ["Content-Range: bytes */\(end)"]) ? .keep : .close
                }
            }
        }

        @Test("several parts where one was asked for are refused, and there is nothing to continue after that")
        func multipart() async throws {
            try await afterCut { session, _, folder, data in
                let task = session.downloadTask(resuming: data, to: folder.file("f"))
                task.resume()
                let error = await failure { () async throws(TransferError) in try await task.value }
                #expect(error?.code == .protocolViolation && error?.resumeData == nil)
                #expect(folder.names.isEmpty)
            } answer: { peer, request in
                let start = request.rangeStart ?? 0
                let type = "Content-Type: multipart/byteranges; boundary=x"
                return Self.old.send(start..<Self.old.count, to: peer, fields: [type])
            }
        }

        @Test("an answer that is no success leaves the part for a fresh address, with the fields of the new request")
        func freshAddress() async throws {
            try await afterCut { session, server, folder, data in
                let task = session.downloadTask(resuming: data, to: folder.file("f"))
                task.resume()
                let result = try await task.value
                #expect(result.response.status == .forbidden && result.file == nil)
                #expect(result.bytes == Array("signature".utf8))
                let next = try #require(result.resumeData)
                let signed = server.request(.get, "/g?key=2", [.authorization: "Bearer t"])
                let again = session.downloadTask(resuming: next, request: signed, to: folder.file("g"))
                again.resume()
                #expect(try await again.value.file == folder.file("g"))
                #expect(server.requests.last?.rangeStart == Self.held)
                #expect(server.requests.last?["authorization"] == "Bearer t")
                #expect(folder.read("g") == Self.old.bytes && folder.names == ["g"])
            } answer: { peer, request in
                if request.target == "/f?key=1" { return peer.respond(403, "signature") ? .keep : .close }
                return Self.old.answer(request, to: peer)
            }
        }

        @Test("what is used up, or given to a request that is no plain GET, starts over")
        func usedUp() async throws {
            try await afterCut { session, server, folder, data in
                let tasks = (0..<3).map { session.downloadTask(resuming: data, to: folder.file("\($0)")) }
                for task in tasks { task.resume() }
                for task in tasks { _ = try await task.value }
                for index in 0..<3 { #expect(folder.read("\(index)") == Self.old.bytes) }
                #expect(server.requests.dropFirst().compactMap(\.rangeStart) == [Self.held])
                #expect(folder.names == ["0", "1", "2"])
            } answer: { peer, request in
                Self.old.answer(request, to: peer)
            }
            try await afterCut { session, server, folder, data in
                let request = server.request(.post, "/")
                let task = session.downloadTask(resuming: data, request: request, to: folder.file("f"))
                task.resume()
                _ = try await task.value
                #expect(server.requests.last?["range"] == nil && folder.read("f") == Self.new.bytes)
                #expect(folder.names == ["f"])
            } answer: { peer, _ in
                Self.new.send(to: peer)
            }
        }

        enum Damage: CaseIterable { case truncated, grown, rewritten, replaced, removed, inUse }

        @Test("a temporary file that is not as it was left is not continued", arguments: Damage.allCases)
        func damaged(damage: Damage) async throws {
            try await afterCut { session, server, folder, data in
                let path = data.temporaryFile
                // The file system's clock ticks every few milliseconds.
                usleep(20_000)
                let descriptor = unsafe open(path, O_WRONLY)
                defer { close(descriptor) }
                switch damage {
                case .truncated: ftruncate(descriptor, 99_999)
                case .grown: ftruncate(descriptor, 100_001)
                case .rewritten: _ = unsafe pwrite(descriptor, [9], 1, 50_000)
                case .replaced: _ = unsafe rename(folder.write("x", Array(repeating: 9, count: Self.held)), path)
                case .removed: unsafe unlink(path)
                case .inUse: flock(descriptor, LOCK_EX)
                }
                let task = session.downloadTask(resuming: data, to: folder.file("f"))
                task.resume()
                _ = try await task.value
                #expect(server.requests.dropFirst().map(\.rangeStart) == [nil])
                #expect(folder.read("f") == Self.old.bytes)
            } answer: { peer, request in
                Self.old.answer(request, to: peer)
            }
        }

        @Test("the temporary file goes with the last copy of the data, unless their bytes were read")
        func owner() async throws {
            let kept = Mutex<(folder: TemporaryFolder, data: ResumeData)?>(nil)
            try await afterCut { _, _, folder, data in
                kept.withLock { $0 = (folder, data) }
            } answer: { _, _ in
                .close
            }
            let folder = try #require(kept.withLock { $0?.folder })
            #expect(folder.names.count == 1)
            kept.withLock { $0 = nil }
            #expect(folder.names.isEmpty)
            try await afterCut { _, _, folder, data in
                kept.withLock { $0 = (folder, data) }
            } answer: { _, _ in
                .close
            }
            let other = try #require(kept.withLock { $0?.folder })
            let bytes = try #require(kept.withLock { $0?.data.bytes })
            kept.withLock { $0 = nil }
            #expect(other.names.count == 1)
            let stored = try ResumeData(bytes: bytes)
            #expect(stored.bytesReceived == Int64(Self.held))
            stored.discard()
            #expect(other.names.isEmpty)
        }

        @Test("stored data go on in another folder")
        func otherFolder() async throws {
            try await afterCut { session, server, folder, data in
                let other = TemporaryFolder()
                let task = session.downloadTask(resuming: try ResumeData(bytes: data.bytes), to: other.file("f"))
                task.resume()
                _ = try await task.value
                #expect(server.requests.last?.rangeStart == Self.held)
                #expect(other.read("f") == Self.old.bytes && other.names == ["f"] && folder.names.isEmpty)
            } answer: { peer, request in
                Self.old.answer(request, to: peer)
            }
        }

        private static let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT"
        private static let longAgo = "Sun, 06 Nov 1994 08:40:00 GMT"

        @Test(
            "what cannot be told from another version, or not be asked for in parts, leaves nothing",
            arguments: [
                [], [#"ETag: W/"v1""#], ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", date],
                ["Last-Modified: \(longAgo)"], [#"ETag: "v1""#, "Accept-Ranges: none"],
                [#"ETag: "v1""#, "Content-Encoding: gzip"],
            ])
        func notResumable(fields: [String]) async throws {
            let server = try FaultServer { peer, _ in Self.old.send(to: peer, cutAt: Self.held, fields: fields) }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.download(for: server.request(), to: folder.file("f"))
                }
                #expect(error?.code == .connectionLost && error?.resumeData == nil)
                #expect(folder.names.isEmpty)
            }
        }

        @Test("an old date will do where there is no tag, and a caller's own range is the caller's affair")
        func dateAndRange() async throws {
            let server = try FaultServer { peer, request in
                let fields = ["Last-Modified: \(Self.longAgo)", Self.date]
                guard let start = request.rangeStart else {
                    return Self.old.send(to: peer, cutAt: Self.held, fields: fields)
                }
                let isOurs = request["if-range"] == Self.longAgo
                return Self.old.send(
                    start..<Self.old.count, to: peer, tag: .some(nil), fields: fields, cutAt: isOurs ? nil : 7)
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.download(for: server.request(), to: folder.file("f"))
                }
                let data = try #require(error?.resumeData)
                let task = session.downloadTask(resuming: data, to: folder.file("f"))
                task.resume()
                _ = try await task.value
                #expect(server.requests.last?["if-range"] == Self.longAgo && folder.read("f") == Self.old.bytes)
                let own = await failure { () async throws(TransferError) in
                    try await session.download(
                        for: server.request(.get, "/", [.range: "bytes=5-"]), to: folder.file("g"))
                }
                #expect(own?.code == .connectionLost && own?.resumeData == nil && folder.names == ["f"])
            }
        }

        @Test("a part that turns out to be the whole is done")
        func done() async throws {
            let server = try FaultServer { peer, request in
                if request.rangeStart != nil { return Self.old.answer(request, to: peer) }
                // The response has no length, and its end is missing.
                peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \(Self.old.tag)\r\n\r\n")
                peer.send(String(Self.old.count, radix: 16) + "\r\n")
                peer.send(Self.old.bytes)
                peer.send("\r\n")
                return .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession {
                $0.retryPolicy.maximumAttempts = 2
                $0.retryPolicy.firstDelay = .milliseconds(5)
            } _: { session in
                let result = try await session.download(for: server.request(), to: folder.file("f"))
                #expect(server.requests.map(\.rangeStart) == [nil, Self.old.count])
                #expect(result.response.status == .ok && result.bytes.isEmpty && result.file == folder.file("f"))
                #expect(folder.read("f") == Self.old.bytes && folder.names == ["f"])
            }
        }

        @Test("a full disk ends a continued download too, and leaves nothing", .enabled(if: SmallDisk.isPossible))
        func fullDisk() async throws {
            let disk = try #require(SmallDisk())
            let server = try FaultServer { peer, request in
                Self.old.answer(request, to: peer, cutAt: request.rangeStart == nil ? Self.held : nil)
            }
            defer { server.stop() }
            try await withSession { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.download(for: server.request(), to: disk.folder.file("f"))
                }
                let data = try #require(error?.resumeData)
                _ = disk.folder.write("filler", Array(repeating: 1, count: 800_000))
                let task = session.downloadTask(resuming: data, to: disk.folder.file("f"))
                task.resume()
                let full = await failure { () async throws(TransferError) in try await task.value }
                #expect(full?.code == .cannotWriteFile && full?.errno == ENOSPC && full?.resumeData == nil)
                #expect(server.requests.last?.rangeStart == Self.held)
                #expect(disk.folder.names == ["filler"])
            }
        }
    }
}
