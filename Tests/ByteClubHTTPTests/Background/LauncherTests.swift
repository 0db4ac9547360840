import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

extension Live {
    /// The daemon's program is this test binary.
    @Suite struct LauncherTests {
        private static let variable = "BYTECLUB_TEST_DAEMON"
        private static let isChild = unsafe getenv(variable) != nil

        private func service(_ folder: TemporaryFolder) throws -> BackgroundService {
            var buffer = [CChar](repeating: 0, count: 4096)
            let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
            try #require(count > 0)
            let program = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let start = "\(Self.variable)='\(folder.file("daemon"))' exec \"$0\" \"$@\""
            return BackgroundService(
                folder: folder.file("daemon"),
                command: [
                    "/bin/sh", "-c", start, program, "--testing-library", "swift-testing", "--filter", "LauncherTests",
                ])
        }

        private func process(of connection: FrameConnection) async throws -> pid_t {
            try await BackgroundThread.run { () -> Result<pid_t, TransferError> in
                do throws(TransferError) {
                    try connection.send(.call(number: 1, .hello(version: DaemonFrame.version)))
                    guard case .answer(1, .hello(_, let process)) = try connection.receive() else {
                        return .failure(TransferError(.protocolViolation, "no greeting"))
                    }
                    return .success(process)
                } catch { return .failure(error) }
            }.get()
        }

        private func link(_ path: String) -> String {
            var buffer = [CChar](repeating: 0, count: 4096)
            let count = unsafe readlink(path, &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        @Test("be a daemon until it is idle", .enabled(if: isChild))
        func child() async throws {
            let folder = try #require(unsafe getenv(Self.variable).map { unsafe String(cString: $0) })
            var daemon = BackgroundDaemon(BackgroundService(folder: folder, command: []))
            daemon.idleTimeout = .seconds(20)
            try await daemon.run()
        }

        @Test("several programs that start a daemon share one, which is detached", .enabled(if: !isChild))
        func race() async throws {
            let folder = TemporaryFolder()
            let service = try service(folder)
            let processes = try await withThrowingTaskGroup(of: pid_t.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        try await process(of: try await DaemonLauncher.connect(service, isStarting: true))
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            let daemon = try #require(processes.first)
            #expect(processes.count == 1 && daemon != getpid())
            #expect(getsid(daemon) == daemon && link("/proc/\(daemon)/cwd") == "/")
            #expect(link("/proc/\(daemon)/fd/0") == "/dev/null")
            #expect(link("/proc/\(daemon)/fd/2") == service.folder + "/daemon.log")
            try await BackgroundControl(service, isStarting: false).stop()
            try await eventually("the daemon is gone, and no zombie of it") { kill(daemon, 0) != 0 }
            let error = await failure { () async throws(TransferError) in
                try await DaemonLauncher.connect(service, isStarting: false)
            }
            #expect(error?.code == .daemonUnavailable)
        }

        @Test(
            "a daemon that is killed in the middle of a download is replaced, and the rest is asked for",
            .enabled(if: !isChild))
        func killed() async throws {
            let file = VersionedFile(bytes: noise(20 << 20, seed: 5), tag: #""big""#)
            let server = try file.server(holdingAt: 18 << 20)
            defer { server.stop() }
            let folder = TemporaryFolder()
            let service = try service(folder)
            let daemon = try await process(of: try await DaemonLauncher.connect(service, isStarting: true))
            let control = try await BackgroundControl(service)
            let request = BackgroundRequest(.download(server.request(), to: folder.file("f")))
            let id = try #require(try await control.submit([request], identifier: "test").first).id
            let journal = "daemon/\(id).resume"
            try await eventually("8 MiB are safe") {
                let data = try folder.read(journal).map { try ResumeData(bytes: $0) }
                return data.map { $0.bytesReceived >= 8 << 20 } ?? false
            }
            #expect(kill(daemon, SIGKILL) == 0)
            // Its socket's file is left, on which no process listens.
            try await eventually("the task is done") {
                try await control.tasks().first { $0.id == id }?.state == .done
            }
            #expect(folder.read("f") == file.bytes, "the file is not the server's")
            #expect(server.requests.count == 2 && server.requests.last?.rangeStart ?? 0 >= 8 << 20)
            try await control.stop()
        }

        @Test("a daemon of another user is refused", .enabled(if: !isChild))
        func foreign() throws {
            let service = BackgroundService(folder: "/daemon", command: [])
            try DaemonLauncher.check(geteuid(), service)
            for peer in [geteuid() + 1, nil] {
                #expect(throws: TransferError.self) { try DaemonLauncher.check(peer, service) }
            }
        }

        @Test("a program that is not a daemon is an error with its last line of output", .enabled(if: !isChild))
        func noDaemon() async throws {
            let folder = TemporaryFolder()
            func error(_ command: [String]) async -> TransferError? {
                await failure { () async throws(TransferError) in
                    try await DaemonLauncher.connect(
                        BackgroundService(folder: folder.file("daemon"), command: command), isStarting: true)
                }
            }
            let failed = await error(["/bin/sh", "-c", "echo first >&2; echo 'no room' >&2; exit 3"])
            #expect(failed?.code == .daemonUnavailable)
            #expect(failed?.message == "the daemon '/bin/sh' ended with status 3: no room")
            let killed = await error(["/bin/sh", "-c", "kill -9 $$"])
            #expect(killed?.message == "the daemon '/bin/sh' was ended by signal 9")
            for command in [[], ["relative"], ["/nonexistent/daemon"]] {
                #expect(await error(command)?.code == .daemonUnavailable, "\(command)")
            }
        }
    }
}
