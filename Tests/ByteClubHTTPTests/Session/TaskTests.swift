import Glibc
import HTTPTypes
import Synchronization
import Testing

@testable import ByteClubHTTP

extension Live {
    @Suite struct TaskTests {
        @Test("with one task per host bodies never overlap and keep their order")
        func serial() async throws {
            let overlap = Counts()
            let server = try FaultServer { peer, request in
                overlap.counts.withLock { counts in
                    counts["now", default: 0] += 1
                    counts["most"] = max(counts["most"] ?? 0, counts["now"] ?? 0)
                }
                let count = peer.skip(request.contentLength)
                overlap.counts.withLock { $0["now", default: 0] -= 1 }
                return peer.respond(200, "\(count)") ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.maximumTasksPerHost = 1
            } _: { session in
                let tasks = (0..<200).map { number in
                    session.uploadTask(
                        server.request(.put, "/\(number)"), from: .bytes(Array(repeating: 0, count: 40_000)))
                }
                for task in tasks { task.resume() }
                for task in tasks { _ = try await task.value }
            }
            #expect(overlap.counts.withLock { $0["most"] } == 1)
            #expect(server.requests.map(\.target) == (0..<200).map { "/\($0)" })
            #expect(server.accepts == 1)
        }

        @Test("twenty thousand waiting tasks cost no libcurl handle and little memory")
        func many() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            try await withSession { session in
                let before = residentBytes()
                let tasks = (0..<20_000).map { _ in session.dataTask(server.request()) }
                for task in tasks { task.resume() }
                #expect(EasyHandle.liveCount.load(ordering: .relaxed) <= 6)
                for task in tasks { _ = try await task.value }
                let grown = residentBytes() - before
                print("20 000 tasks: \(grown / 20_000) bytes each, at most")
                #expect(grown < 100 << 20)
            }
            #expect(server.accepts <= 6)
        }

        @Test("a suspended task makes no traffic, its timers stop, and it goes on where it was")
        func suspension() async throws {
            // The system's buffers cannot hold the rest of the body when the server stops reading.
            let (size, part) = (64 << 20, 4 << 20)
            let got = Counts()
            let changes = Changes()
            let gate = Gate()
            let server = try FaultServer { peer, request in
                var left = request.contentLength
                while left > 0 {
                    let count = peer.skip(min(left, 64 << 10))
                    if count == 0 { break }
                    left -= count
                    got.counts.withLock { $0["bytes", default: 0] += count }
                    if size - left == part {
                        changes.notify()
                        gate.pass()
                    }
                }
                return peer.respond(200, "\(request.contentLength - left)") ? .keep : .close
            }
            defer { server.stop() }
            try await withSession {
                $0.timeoutForRequest = .seconds(3)
                $0.timeoutForResource = .seconds(5)
            } _: { session in
                var options = TaskOptions()
                options.rateLimit = 64 << 20
                let task = session.uploadTask(
                    server.request(.put), from: .bytes(Array(repeating: 3, count: size)), options: options)
                #expect(task.state == .suspended)
                task.resume()
                await changes.wait { got.counts.withLock { $0["bytes"] ?? 0 } >= part }
                task.suspend()
                task.suspend()
                task.resume()
                #expect(task.state == .suspended)
                gate.open()
                usleep(2_000_000)
                let held = got.counts.withLock { $0["bytes"] ?? 0 }
                usleep(4_000_000)
                #expect(got.counts.withLock { $0["bytes"] ?? 0 } == held)
                #expect(held < size)
                task.resume()
                let result = try await task.value
                #expect(result.bytes == Array("\(size)".utf8))
                #expect(result.progress.attempt == 1)
                task.resume()
                task.cancel()
                #expect(task.state == .completed)
            }
        }

        @Test("a rate limit is kept in both directions", arguments: [256 << 10, 4 << 20])
        func rateLimit(rate: Int) async throws {
            let size = rate * 3 / 2
            let text = String(repeating: "x", count: size)
            let server = try FaultServer { peer, request in
                _ = peer.skip(request.contentLength)
                return peer.respond(200, request.method == "GET" ? text : "") ? .keep : .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession { session in
                var options = TaskOptions()
                options.rateLimit = rate
                let clock = ContinuousClock()
                let up = try await clock.measure {
                    _ = try await session.upload(
                        for: server.request(.put), from: .bytes(Array(text.utf8)), options: options)
                }
                let down = try await clock.measure {
                    _ = try await session.download(for: server.request(), to: folder.file("f"), options: options)
                }
                print("rate limit \(rate): 1.5 s of bytes took \(up) up, \(down) down")
                for time in [up, down] { #expect((.milliseconds(1300) ... .seconds(10)).contains(time)) }
            }
        }

        @Test("an endless download held to a rate costs no memory")
        func endless() async throws {
            let chunk = Array(repeating: UInt8(1), count: 1 << 20)
            let server = try FaultServer { peer, _ in
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
                while peer.send(chunk) {}
                return .close
            }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession { session in
                var options = TaskOptions()
                options.rateLimit = 1 << 20
                let before = residentBytes()
                let task = session.downloadTask(server.request(), to: folder.file("f"), options: options)
                task.resume()
                for await progress in task.progressUpdates where progress.bytesReceived > 1 << 20 { break }
                #expect(residentBytes() - before < 16 << 20)
                task.cancel()
                _ = await failure { () async throws(TransferError) in try await task.value }
            }
        }

        @Test("progress grows, is not told too often, and the last word is the whole length")
        func progress() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let folder = TemporaryFolder()
            let path = folder.write("f", Array(repeating: 1, count: 64 << 20))
            try await withSession { session in
                let seen = LastProgress()
                let time = try await ContinuousClock().measure {
                    _ = try await session.upload(for: server.request(.put), from: .file(path: path)) { seen.set($0) }
                }
                let sent = seen.values.map(\.bytesSent)
                #expect(sent == sent.sorted() && sent.last == 64 << 20)
                #expect(Double(sent.count) <= time / .milliseconds(100) + 2)
                #expect(seen.values.allSatisfy { $0.bytesExpectedToSend == 64 << 20 && $0.attempt == 1 })
            }
        }

        @Test("what came before a stall is told, and then that nothing moves")
        func stall() async throws {
            let released = Log<Void>()
            let server = try FaultServer { peer, _ in
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n")
                peer.send(Array(repeating: 1, count: 1000))
                while released.entries.isEmpty { usleep(2000) }
                return peer.send(Array(repeating: 2, count: 1000)) ? .keep : .close
            }
            defer {
                released.add(())
                server.stop()
            }
            try await withSession { session in
                let task = session.dataTask(server.request())
                task.resume()
                var seen: [TaskProgress] = []
                for await progress in task.progressUpdates {
                    seen.append(progress)
                    if progress.bytesReceived == 1000, progress.bytesPerSecond == 0 { break }
                }
                #expect(seen.map(\.bytesReceived).last == 1000 && task.state == .running)
                released.add(())
                let result = try await task.value
                #expect(result.bytes.count == 2000)
            }
        }

        @Test("an invalidated session ends what it has, and takes nothing new")
        func invalidate() async throws {
            let gate = Gate()
            let server = try FaultServer { peer, _ in
                gate.pass()
                return peer.respond(200) ? .keep : .close
            }
            defer { server.stop() }
            let session = try Session(configuration: .ephemeral)
            let task = session.dataTask(server.request())
            let unstarted = session.dataTask(server.request())
            task.resume()
            await server.received(1)
            async let ended: Void = session.finishTasksAndInvalidate()
            gate.open()
            await ended
            let result = try await task.value
            #expect(result.response.status == .ok)
            unstarted.resume()
            let late = await failure { () async throws(TransferError) in try await unstarted.value }
            #expect(late?.code == .sessionInvalid)
            let refused = await failure { () async throws(TransferError) in
                try await session.data(for: server.request())
            }
            #expect(refused?.code == .sessionInvalid)
            await session.invalidateAndCancel()
        }

        @Test("a session that is dropped lets its task end")
        func dropped() async throws {
            let server = try FaultServer.echo()
            defer { server.stop() }
            let task = try Session(configuration: .ephemeral).dataTask(server.request())
            task.resume()
            let late = await failure { () async throws(TransferError) in try await task.value }
            #expect(late == nil || late?.code == .sessionInvalid)
            while Transfer.liveCount.load(ordering: .relaxed) + EasyHandle.liveCount.load(ordering: .relaxed) > 0 {
                await Task.yield()
            }
        }
    }
}

/// The process's resident memory.
func residentBytes() -> Int {
    var status = [UInt8](repeating: 0, count: 256)
    let descriptor = unsafe open("/proc/self/statm", O_RDONLY)
    defer { close(descriptor) }
    let count = unsafe read(descriptor, &status, status.count)
    let words = String(decoding: status.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
    return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * 4096
}
