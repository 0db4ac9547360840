import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    /// The killed program is these tests in a process of its own.
    @Suite struct ResumeJournalTests {
        private static let folderName = "BYTECLUB_JOURNAL_FOLDER"
        private static let serverName = "BYTECLUB_JOURNAL_SERVER"
        private static let isChild = unsafe getenv(folderName) != nil

        private static func variable(_ name: String) -> String? {
            unsafe getenv(name).map { unsafe String(cString: $0) }
        }

        private static func options(_ folder: String) -> TaskOptions {
            var options = TaskOptions()
            options.resumeJournal = folder + "/journal"
            return options
        }

        /// The data of the journal, once they tell of at least this many bytes.
        private static func journal(in folder: TemporaryFolder, atLeast count: Int64) async throws -> ResumeData {
            while true {
                if let bytes = folder.read("journal") {
                    let data = try ResumeData(bytes: bytes)
                    if data.bytesReceived >= count { return data }
                }
                try await Task.sleep(for: .milliseconds(2))
            }
        }

        private static func size(_ path: String) -> Int64? {
            var status = stat()
            return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : nil
        }

        @Test(
            "a program that is killed in the middle of a download is carried on by another, from its last byte",
            .enabled(if: !isChild))
        func killed() async throws {
            let file = VersionedFile(bytes: noise(24 << 20, seed: 3), tag: #""big""#)
            let server = try file.server(holdingAt: 20 << 20)
            defer { server.stop() }
            let folder = TemporaryFolder()
            let child = try #require(
                ChildProcess(
                    running: "ResumeJournalTests",
                    ["\(Self.folderName)=\(folder.path)", "\(Self.serverName)=\(server.authority)"]))
            let before: Int64
            do {
                defer {
                    child.destroy()
                    #expect(child.wait() & 0x7F == SIGKILL)
                }
                before = try await Self.journal(in: folder, atLeast: 8 << 20).bytesReceived
            }
            let data = try await Self.journal(in: folder, atLeast: before)
            // More bytes arrived than were synced, and only a power cut loses those.
            let size = try #require(Self.size(data.temporaryFile))
            #expect(data.bytesReceived <= size && size <= 20 << 20 && data.url == "http://\(server.authority)/big")
            try await withSession { session in
                let task = session.downloadTask(
                    resuming: data, to: folder.file("f"), options: Self.options(folder.path))
                task.resume()
                let result = try await task.value
                #expect(result.response.status == .ok)
            }
            #expect(server.requests.map(\.rangeStart) == [nil, Int(size)])
            #expect(folder.read("f") == file.bytes, "the file is not the server's")
            #expect(folder.names == ["f"])
        }

        @Test("download until killed", .enabled(if: isChild))
        func child() async throws {
            let folder = try #require(Self.variable(Self.folderName))
            let request = HTTPRequest(
                method: .get, scheme: "http", authority: Self.variable(Self.serverName), path: "/big")
            try await withSession { session in
                _ = try await session.download(for: request, to: folder + "/f", options: Self.options(folder))
            }
        }

        @Test("the journal is there from the first byte, and goes with the download", .enabled(if: !isChild))
        func life() async throws {
            let gate = Gate()
            let file = VersionedFile.first
            let server = try FaultServer { peer, request in
                if request.target == "/whole" || request.rangeStart != nil { return file.answer(request, to: peer) }
                if request.target == "/none" { return file.send(to: peer, fields: []) }
                _ = file.send(to: peer, cutAt: 1000)
                gate.pass()
                return .close
            }
            defer {
                gate.open()
                server.stop()
            }
            let folder = TemporaryFolder()
            let options = Self.options(folder.path)
            try await withSession { session in
                for target in ["/whole", "/none"] {
                    _ = try await session.download(
                        for: server.request(.get, target), to: folder.file("f"), options: options)
                    #expect(folder.names == ["f"])
                }
                let cancelled = session.downloadTask(server.request(), to: folder.file("g"), options: options)
                cancelled.resume()
                try await folder.partReached(1000)
                #expect(try ResumeData(bytes: folder.read("journal") ?? []).temporaryFile == folder.part)
                cancelled.cancel()
                _ = await failure { () async throws(TransferError) in try await cancelled.value }
                #expect(folder.names == ["f"])
                let kept = session.downloadTask(server.request(), to: folder.file("g"), options: options)
                kept.resume()
                try await folder.partReached(1000)
                let data = try #require(await kept.cancelKeepingResumeData())
                #expect(folder.names.contains("journal") && data.bytesReceived == 1000)
                let again = session.downloadTask(resuming: data, to: folder.file("g"), options: options)
                again.resume()
                _ = try await again.value
                #expect(server.requests.last?.rangeStart == 1000)
                #expect(folder.read("g") == file.bytes && folder.names == ["f", "g"])
            }
        }

        @Test("a journal that cannot be made is an error, and nothing is left", .enabled(if: !isChild))
        func impossible() async throws {
            let server = try FaultServer { peer, request in VersionedFile.first.answer(request, to: peer) }
            defer { server.stop() }
            let folder = TemporaryFolder()
            try await withSession { session in
                for path in [folder.file("none/journal"), "", "a\0b"] {
                    var options = TaskOptions()
                    options.resumeJournal = path
                    let error = await failure { [options] () async throws(TransferError) in
                        try await session.download(for: server.request(), to: folder.file("f"), options: options)
                    }
                    #expect(error?.code == .cannotWriteFile, "\(path)")
                    #expect(folder.names.isEmpty)
                }
            }
        }
    }
}
