import Glibc
import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct FileTests {
        enum Change: CaseIterable { case truncate, grow, replace, rewrite }

        @Test(
            "a file that changes while it is sent is an error, and the server never gets all of it",
            arguments: Change.allCases)
        func changes(change: Change) async throws {
            let folder = TemporaryFolder()
            let path = folder.write("f", Array(repeating: 1, count: 16 << 20))
            let gate = Gate()
            let got = Counts()
            let server = try FaultServer { peer, request in
                gate.pass()
                let count = peer.skip(request.contentLength)
                got.counts.withLock { $0["bytes"] = count }
                return peer.respond(200) ? .keep : .close
            }
            defer { server.stop() }
            try await withSession { session in
                let task = session.uploadTask(server.request(.put), from: .file(path: path))
                task.resume()
                await server.received(1)
                switch change {
                case .truncate: _ = unsafe truncate(path, 1 << 20)
                case .grow: _ = unsafe truncate(path, 17 << 20)
                case .replace: _ = unsafe rename(folder.write("g", Array(repeating: 2, count: 16 << 20)), path)
                case .rewrite:
                    usleep(10_000)
                    let descriptor = unsafe open(path, O_WRONLY)
                    var byte: UInt8 = 9
                    _ = unsafe pwrite(descriptor, &byte, 1, 8 << 20)
                    close(descriptor)
                }
                gate.open()
                let error = await failure { () async throws(TransferError) in try await task.value }
                #expect(error?.code == .fileChanged)
                #expect(error?.phase == .file)
            }
            #expect(got.counts.withLock { $0["bytes"] ?? 0 } < 16 << 20)
        }

        @Test("part of a file is sent exactly, and what is no readable file is an error before anything is sent")
        func parts() async throws {
            let folder = TemporaryFolder()
            let path = folder.write("f", Array("0123456789".utf8))
            let server = try FaultServer { peer, request in
                let body = peer.readBody(of: request)
                return peer.respond(200, String(decoding: body, as: UTF8.self)) ? .keep : .close
            }
            defer { server.stop() }
            try await withSession { session in
                for (offset, length, expected) in [
                    (0, nil, "0123456789"), (3, nil, "3456789"), (3, 4, "3456"), (10, 0, ""),
                ] {
                    let body = Body.file(path: path, offset: Int64(offset), length: length.map { Int64($0) })
                    let (bytes, _) = try await session.upload(for: server.request(.put), from: body)
                    #expect(String(decoding: bytes, as: UTF8.self) == expected)
                }
                let several = Body.parts([
                    .bytes([60]), .file(path: path, offset: 3, length: 4), .file(path: path, offset: 8), .bytes([62]),
                ])
                let (joined, _) = try await session.upload(for: server.request(.put), from: several)
                #expect(String(decoding: joined, as: UTF8.self) == "<345689>")
                let before = server.requests.count
                let bad: [(Body, TransferError.Code)] = [
                    (.file(path: folder.path), .fileUnreadable), (.file(path: folder.file("none")), .fileUnreadable),
                    (.file(path: "/dev/null"), .fileUnreadable), (.file(path: path, offset: 11), .fileChanged),
                    (.file(path: path, offset: 2, length: 9), .fileChanged),
                    (.file(path: path, offset: -1), .fileChanged),
                    (.file(path: "a\0b"), .fileUnreadable), (.file(path: path, length: -1), .fileChanged),
                    (.file(path: path, offset: .max, length: .max), .fileChanged),
                ]
                for (body, code) in bad {
                    let error = await failure { () async throws(TransferError) in
                        try await session.upload(for: server.request(.put), from: body)
                    }
                    #expect(error?.code == code, "\(body)")
                }
                #expect(server.requests.count == before)
            }
        }

        @Test("a download is there when it is whole, and not at all otherwise")
        func download() async throws {
            let text = String(repeating: "0123456789", count: 100_000)
            let server = try FaultServer { peer, request in
                switch request.target {
                case "/404": return peer.respond(404, "no such") ? .keep : .close
                case "/empty": return peer.respond(200) ? .keep : .close
                case "/short":
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
                    return .close
                default: return peer.respond(200, text) ? .keep : .close
                }
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession { session in
                let last = LastProgress()
                let whole = try await session.download(for: server.request(), to: folder.file("a")) { last.set($0) }
                #expect(whole.file == folder.file("a") && whole.bytes.isEmpty)
                #expect(folder.read("a") == Array(text.utf8))
                #expect(last.value?.bytesReceived == 1_000_000 && last.value?.bytesExpectedToReceive == 1_000_000)
                let missing = try await session.download(for: server.request(.get, "/404"), to: folder.file("b"))
                #expect(missing.file == nil && missing.bytes == Array("no such".utf8))
                let empty = try await session.download(for: server.request(.get, "/empty"), to: folder.file("c"))
                #expect(empty.file != nil && folder.read("c") == [])
                let short = await failure { () async throws(TransferError) in
                    try await session.download(for: server.request(.get, "/short"), to: folder.file("d"))
                }
                #expect(short?.code == .connectionLost)
                let nowhere = await failure { () async throws(TransferError) in
                    try await session.download(for: server.request(), to: folder.file("none/x"))
                }
                #expect(nowhere?.code == .cannotWriteFile && nowhere?.errno == ENOENT)
                #expect(folder.names == ["a", "c"])
            }
        }

        @Test("a body over its limit leaves no file, whether it says so before or not")
        func bodyLimit() async throws {
            let text = String(repeating: "x", count: 1_000_000)
            let server = try FaultServer { peer, request in
                if request.target == "/announced" { return peer.respond(200, text) ? .keep : .close }
                peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + text)
                return .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession { session in
                for target in ["/announced", "/untold"] {
                    for (limit, isTaken) in [(1_000_000, true), (999_999, false), (0, false), (-1, false)] {
                        var options = TaskOptions()
                        options.maximumBodyBytes = { $0.status == .ok ? Int64(limit) : 0 }
                        let request = server.request(.get, target)
                        let name = "\(target.dropFirst()) \(limit)"
                        let file = folder.file(name)
                        let error = await failure { [options] () async throws(TransferError) in
                            try await session.download(for: request, to: file, options: options)
                        }
                        #expect(error?.code == (isTaken ? nil : .bodyTooLarge), "\(target) \(limit)")
                        #expect(error?.bytesReceived ?? 0 <= 1_000_000)
                        #expect(folder.names.contains(name) == isTaken, "\(target) \(limit)")
                        let inMemory = await failure { [options] () async throws(TransferError) in
                            try await session.data(for: request, options: options)
                        }
                        #expect(inMemory?.code == (isTaken ? nil : .bodyTooLarge), "\(target) \(limit)")
                    }
                }
            }
        }

        @Test("a full disk is an error and leaves no file", .enabled(if: SmallDisk.isPossible))
        func fullDisk() async throws {
            let text = String(repeating: "x", count: 3 << 20)
            let server = try FaultServer { peer, _ in peer.respond(200, text) ? .keep : .close }
            defer { server.stop() }
            let disk = try #require(SmallDisk())
            try await withSession { session in
                let error = await failure { () async throws(TransferError) in
                    try await session.download(for: server.request(), to: disk.folder.file("big"))
                }
                #expect(error?.code == .cannotWriteFile && error?.errno == ENOSPC)
                #expect(disk.folder.names.isEmpty)
            }
        }
    }
}
