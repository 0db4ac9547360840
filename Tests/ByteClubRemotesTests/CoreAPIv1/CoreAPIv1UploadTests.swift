import ByteClubCore
import ByteClubHTTP
import Synchronization
import TestSupport
import Testing

@testable import ByteClubRemotes

@Suite("CoreAPIv1Remote's uploads")
struct CoreAPIv1UploadTests {
    /// What a server keeps of a chunked upload.
    struct Upload {
        var bytes: [UInt8] = []
        var commits = 0
        var misplaced = 0
        /// How far the upload was whenever the server said so.
        var acknowledged: Set<Int64> = [0]
    }

    static func state(_ offset: Int, error: String? = nil) -> String {
        let tail = error.map { #", "error": "\#($0)""# } ?? ""
        return #"{"upload_id": "u1", "offset": \#(offset), "expires": "Thu, 08 Aug 2013 09:15:00 +0000"\#(tail)}"#
    }

    static func offset(_ line: String) -> Int {
        guard let mark = line.firstRange(of: "offset=") else { return 0 }
        return Int(line[mark.upperBound...].prefix { $0.isNumber }) ?? -1
    }

    /// A server that takes chunks as the protocol says, with a fault in the way of some requests.
    static func chunkServer(
        _ box: Box, fault: @escaping @Sendable (Int) -> ScriptedServer.Reply?
    ) -> ScriptedServer.Script {
        { request, number in
            let length = Int(request.fields["content-length"] ?? "") ?? 0
            if let reply = fault(number), reply.dropsAfter.map({ $0 < length }) ?? true { return reply }
            // The script is asked before the body is there and again with it.
            guard request.body.count == length else { return .status(200) }
            let reply: ScriptedServer.Reply = box.upload.withLock { upload in
                if request.line.contains("commit_chunked_upload") {
                    upload.commits += 1
                    return .status(200, fileJSON("/big", upload.bytes))
                }
                guard offset(request.line) == upload.bytes.count else {
                    upload.misplaced += 1
                    let text = "got [\(offset(request.line))] expected [\(upload.bytes.count)]"
                    return .status(400, state(upload.bytes.count, error: text))
                }
                upload.bytes += request.body
                upload.acknowledged.insert(Int64(upload.bytes.count))
                return .status(200, state(upload.bytes.count))
            }
            return fault(number) ?? reply
        }
    }

    final class Box: Sendable { let upload = Mutex(Upload()) }

    private func upload(
        _ count: Int, fault: @escaping @Sendable (Int) -> ScriptedServer.Reply?
    ) async throws -> (Upload, [String]) {
        let directory = try TemporaryDirectory()
        let bytes = noise(count)
        let path = directory.path + "/big"
        #expect(TestFile.write(bytes, to: path))
        let box = Box()
        let steps = Mutex<[TransferProgress]>([])
        let script: ScriptedServer.Script = { request, number in
            Self.chunkServer(box, fault: fault)(request, number)
        }
        return try await withRemote(script) { remote, server in
            let stored = try await remote.put(
                .file(path: path), at: RemotePath("/big"), condition: .create, policy: .rename
            ) { progress in steps.withLock { $0.append(progress) } }
            #expect(stored.bytes == Int64(count))
            let told = steps.withLock { $0 }
            let end = box.upload.withLock { $0 }
            #expect(told.last == TransferProgress(completed: Int64(count), total: Int64(count)))
            #expect(zip(told, told.dropFirst()).allSatisfy { $0 != $1 && $0.completed <= $1.completed })
            // Only what the server has said that it has.
            let amounts = Set(told.map(\.completed))
            #expect(amounts.isSubset(of: end.acknowledged), "\(amounts) of \(end.acknowledged)")
            #expect(end.bytes == bytes)
            return (end, server.lines)
        }
    }

    @Test("a large file goes in chunks and is committed once, with its condition")
    func chunks() async throws {
        let (end, lines) = try await upload(20 << 20) { _ in nil }
        #expect(end.commits == 1 && end.misplaced == 0)
        #expect(lines.first == "PUT /1/chunked_upload HTTP/1.1")
        #expect(lines.dropFirst().first == "PUT /1/chunked_upload?upload_id=u1&offset=1048576 HTTP/1.1")
        #expect(lines.last == "POST /1/commit_chunked_upload/auto/big HTTP/1.1")
    }

    @Test("a connection that drops in a chunk costs no more than that chunk")
    func dropped() async throws {
        let (end, lines) = try await upload(20 << 20) { $0 == 1 ? .drop(after: 1_000_000) : nil }
        #expect(end.commits == 1)
        #expect(lines.filter { $0.contains("offset=1048576 ") }.count == 2)
    }

    @Test("a chunk whose answer is lost is not sent twice: the upload goes on where the server stands")
    func lostAnswer() async throws {
        let (end, _) = try await upload(20 << 20) { $0 == 1 ? .drop(after: .max) : nil }
        #expect(end.commits == 1 && end.misplaced == 1)
    }

    @Test("a server that forgot the upload gets it from the start")
    func forgotten() async throws {
        let box = Box()
        let script: ScriptedServer.Script = { request, number in
            if number == 1 {
                box.upload.withLock { $0.bytes = [] }
                return .status(404, #"{"error": "upload_id not found"}"#)
            }
            return Self.chunkServer(box) { _ in nil }(request, number)
        }
        let bytes = noise(10 << 20)
        try await withRemote(script) { remote, _ in
            let stored = try await remote.put(
                .bytes(bytes), at: RemotePath("/big"), condition: .overwrite, policy: .rename, progress: nil)
            #expect(stored.bytes == Int64(bytes.count))
        }
        #expect(box.upload.withLock { $0.bytes == bytes })
    }

    @Test("an upload goes on where an earlier one ended, unless the file is another by then")
    func resumed() async throws {
        let directory = try TemporaryDirectory()
        let bytes = noise(20 << 20)
        let path = directory.path + "/big"
        #expect(TestFile.write(bytes, to: path))
        let box = Box()
        let kept = Mutex<[UploadPosition?]>([])
        let told = Mutex<[TransferProgress]>([])
        let put = { @Sendable (remote: CoreAPIv1Remote, position: UploadPosition?) async throws -> Metadata in
            let resumption = UploadResumption(from: position) { state in kept.withLock { $0.append(state) } }
            return try await remote.put(
                .file(path: path, resumption: resumption), at: RemotePath("/big"), condition: .create, policy: .rename
            ) { progress in told.withLock { $0.append(progress) } }
        }
        let first = Self.chunkServer(box) { $0 == 1 ? .status(403, #"{"error": "no"}"#) : nil }
        try await withRemote(first) { remote, _ in
            _ = await expectFailure(.forbidden) { try await put(remote, nil) }
        }
        let position = try #require(kept.withLock { $0 }.last ?? nil)
        #expect(position.offset == 1 << 20)
        told.withLock { $0 = [] }
        try await withRemote(Self.chunkServer(box) { _ in nil }) { remote, server in
            let stored = try await put(remote, position)
            #expect(stored.bytes == Int64(bytes.count))
            // What was there before is not told as if it had just gone.
            let first = TransferProgress(completed: 1 << 20, total: Int64(bytes.count))
            #expect(told.withLock { $0 }.first == first)
            let line = "PUT /1/chunked_upload?upload_id=u1&offset=1048576 HTTP/1.1"
            #expect(server.lines.prefix(2) == [line, line])
            #expect(server.requests.first?.body.isEmpty == true)
        }
        #expect(box.upload.withLock { $0.bytes == bytes && $0.commits == 1 && $0.misplaced == 0 })
        #expect(kept.withLock { $0 }.last == .some(nil))
        box.upload.withLock { $0 = Upload() }
        #expect(TestFile.write(bytes.reversed(), to: path))
        try await withRemote(Self.chunkServer(box) { _ in nil }) { remote, server in
            let stored = try await put(remote, position)
            #expect(stored.bytes == Int64(bytes.count))
            #expect(server.lines.first == "PUT /1/chunked_upload HTTP/1.1")
        }
        #expect(box.upload.withLock { $0.bytes == bytes.reversed() })
    }

    @Test("where a rate is to be kept, a file of more than 1 MiB goes in pieces of that, or of a second's worth")
    func limited() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/big"
        #expect(TestFile.write(noise(3 << 20), to: path))
        for (limit, session) in [(1 << 30, nil), (nil, 512 << 20), (8 << 20, 1 << 30)] as [(Int?, Int?)] {
            let box = Box()
            try await withRemote(Self.chunkServer(box) { _ in nil }) { remote, server in
                var remote = remote
                remote.rateLimit = limit
                try remote.contentSession.session.setRateLimit(session)
                _ = try await remote.put(
                    .file(path: path), at: RemotePath("/big"), condition: .create, policy: .rename, progress: nil)
                // Later ones may be smaller on a busy machine, and never larger.
                let first = "PUT /1/chunked_upload?upload_id=u1&offset=1048576 HTTP/1.1"
                #expect(server.lines.dropFirst().first == first, "\(server.lines)")
                #expect(server.lines.count { $0.hasPrefix("PUT") } >= 3, "\(server.lines)")
            }
        }
    }

    @Test("a photo on a line that is known to be fast goes in one request, unless an earlier upload of it can go on")
    func fast() async throws {
        let directory = try TemporaryDirectory()
        let bytes = noise(5 << 20)
        let path = directory.path + "/big"
        #expect(TestFile.write(bytes, to: path))
        let pieces = UploadPieces()
        for _ in 0..<3 { pieces.learn(.milliseconds(10), of: 8 << 20) }
        try await withRemote({ _, _ in .status(200, fileJSON("/big", bytes)) }) { remote, server in
            var remote = remote
            remote.pieces = pieces
            _ = try await remote.put(
                .file(path: path), at: RemotePath("/big"), condition: .create, policy: .rename, progress: nil)
            #expect(server.lines.count == 1 && server.lines.first?.contains("files_put") == true, "\(server.lines)")
        }
    }

    @Test(
        "a server without uploads in pieces gets all in one request, and is not asked again",
        arguments: [404, 405, 501])
    func withoutPieces(status: Int) async throws {
        let directory = try TemporaryDirectory()
        let bytes = noise(20 << 20)
        let path = directory.path + "/big"
        #expect(TestFile.write(bytes, to: path))
        let script: ScriptedServer.Script = { request, _ in
            if request.line.contains("chunked_upload") { return .status(status, "<h1>No</h1>") }
            let length = Int(request.fields["content-length"] ?? "") ?? 0
            guard request.body.count == length else { return .status(200) }
            return .status(200, fileJSON("/big", request.body))
        }
        try await withRemote(script) { remote, server in
            for content in [Content.file(path: path), .bytes(bytes), .file(path: path)] {
                let told = Mutex<[TransferProgress]>([])
                let stored = try await remote.put(
                    content, at: RemotePath("/big"), condition: .create, policy: .rename
                ) { step in told.withLock { $0.append(step) } }
                #expect(stored.bytes == Int64(bytes.count))
                #expect(told.withLock { $0 }.last == TransferProgress(completed: 20 << 20, total: 20 << 20))
            }
            #expect(server.requests.filter { $0.line.contains("files_put") }.map(\.body) == [bytes, bytes, bytes])
            #expect(server.lines.count { $0.contains("chunked_upload") } == 1, "\(server.lines)")
        }
    }

    @Test("what refuses pieces and whole files alike is no server without uploads in pieces")
    func portal() async throws {
        let bytes = noise(3 << 20)
        let box = Box()
        let isAway = Mutex(true)
        let script: ScriptedServer.Script = { request, number in
            if isAway.withLock({ $0 }) { return .status(404, "<h1>Sign in</h1>") }
            return Self.chunkServer(box) { _ in nil }(request, number)
        }
        try await withRemote(script) { remote, server in
            let put = { @Sendable () async throws -> Metadata in
                try await remote.put(
                    .bytes(bytes), at: RemotePath("/big"), condition: .create, policy: .rename, progress: nil)
            }
            await expectFailure(.unreachable) { try await put() }
            isAway.withLock { $0 = false }
            _ = try await put()
            #expect(box.upload.withLock { $0.commits } == 1)
        }
    }

    @Test("a server that always wants another place is given up")
    func endless() async throws {
        try await withRemote({ _, _ in .status(400, Self.state(3, error: "got [0] expected [3]")) }) { remote, server in
            await expectFailure(.protocolViolation) {
                try await remote.put(
                    .bytes(noise(9 << 20)), at: RemotePath("/big"), condition: .overwrite, policy: .rename,
                    progress: nil)
            }
            #expect(server.requests.count < 20)
        }
    }

    @Test("a server that stored other bytes than were sent is caught")
    func wrongHash() async throws {
        let answers = [fileJSON("/a", [1, 2, 3], hash: ContentHasher.hash([9])), fileJSON("/a", [1, 2])]
        for answer in answers {
            try await withRemote({ _, _ in .status(200, answer) }) { remote, _ in
                let error = await expectFailure(.protocolViolation) {
                    try await remote.put(
                        .bytes([1, 2, 3]), at: RemotePath("/a"), condition: .overwrite, policy: .fail, progress: nil)
                }
                #expect(error?.message.contains("/a") == true)
            }
        }
    }

    @Test("a create whose answer is lost is found again and not stored twice")
    func lostCreate() async throws {
        let bytes = Array("text".utf8)
        let script: ScriptedServer.Script = { request, number in
            if number == 0 { return .drop(after: bytes.count) }
            if request.line.hasPrefix("PUT") { return .status(409, #"{"error": "is there already"}"#) }
            return .status(200, fileJSON("/a", bytes, revision: 9))
        }
        try await withRemote(script) { remote, server in
            let stored = try await remote.put(
                .bytes(bytes), at: RemotePath("/a"), condition: .create, policy: .rename, progress: nil)
            #expect(stored.rev == Revision.number(9))
            #expect(server.lines.filter { $0.hasPrefix("PUT") }.count == 2)
            #expect(server.lines.dropFirst().first?.contains("autorename=false") == true)
        }
    }

    @Test("a create that somebody else won meanwhile takes another name")
    func lostCreateToAnother() async throws {
        let script: ScriptedServer.Script = { request, number in
            switch number {
            case 0: .drop(after: 4)
            case 1: .status(409, #"{"error": "is there already"}"#)
            case 2: .status(200, fileJSON("/a", Array("other".utf8)))
            case 3: .status(200, #"{"path": "/", "is_dir": true, "contents": []}"#)
            default: .status(200, fileJSON("/a (1)", Array("text".utf8)))
            }
        }
        try await withRemote(script) { remote, server in
            let stored = try await remote.put(
                .bytes(Array("text".utf8)), at: RemotePath("/a"), condition: .create, policy: .rename, progress: nil)
            #expect(stored.path.string == "/a (1)")
            #expect(server.lines.last?.contains("autorename=true") == true)
        }
    }

    @Test("an upload that is cancelled is never committed")
    func cancelled() async throws {
        let box = Box()
        let script: ScriptedServer.Script = { request, number in
            Self.chunkServer(box) { _ in nil }(request, number)
        }
        let directory = try TemporaryDirectory()
        let path = directory.path + "/big"
        #expect(TestFile.write(noise(24 << 20), to: path))
        try await withRemote(script) { remote, server in
            let task = Task {
                try await remote.put(
                    .file(path: path), at: RemotePath("/big"), condition: .create, policy: .rename, progress: nil)
            }
            while server.requests.isEmpty { await Task.yield() }
            task.cancel()
            await expectFailure(.cancelled) { try await task.value }
            #expect(box.upload.withLock { $0.commits } == 0)
        }
    }

    @Test("a file that changes while it is sent is not committed")
    func changed() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/big"
        #expect(TestFile.write(noise(12 << 20), to: path))
        let box = Box()
        let script: ScriptedServer.Script = { request, number in
            if number == 1, request.body.isEmpty { _ = TestFile.write([1], to: path) }
            return Self.chunkServer(box) { _ in nil }(request, number)
        }
        try await withRemote(script) { remote, server in
            await expectFailure(.localFile) {
                try await remote.put(
                    .file(path: path), at: RemotePath("/big"), condition: .create, policy: .rename, progress: nil)
            }
            #expect(!server.lines.contains { $0.contains("commit") })
        }
    }
}
