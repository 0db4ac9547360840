import Glibc
import HTTPTypes
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ByteClubHTTP

/// Work that is done when the test releases it, and at once after that.
private final class Released: BackgroundWork {
    private let isFree = Mutex(false)

    func release() { isFree.withLock { $0 = true } }

    func run(_ payload: [UInt8], _ context: WorkContext) async throws -> BackgroundResult {
        try await eventually("it is released") { isFree.withLock { $0 } }
        return BackgroundResult(bytes: payload)
    }

    func discard(_ id: BackgroundTask.ID, _ payload: [UInt8], checkpoint: [UInt8]?) async {}
}

extension Live {
    /// The programs are shells, and this test binary.
    @Suite("Programs that the daemon starts again")
    struct RelaunchTests {
        /// The folder of a test whose program this process is.
        private static let variable = "BYTECLUB_TEST_RELAUNCH"
        private static let daemonVariable = "BYTECLUB_TEST_RELAUNCH_DAEMON"
        /// How many tasks the program records; 3 without it.
        private static let countVariable = "BYTECLUB_TEST_RELAUNCH_COUNT"
        private static let home = text(variable)
        private static let daemonHome = text(daemonVariable)
        private static let isTest = home == nil && daemonHome == nil

        private static func text(_ name: String) -> String? {
            unsafe getenv(name).map { unsafe String(cString: $0) }
        }

        private static func service(_ home: String) -> BackgroundService {
            BackgroundService(folder: home + "/daemon", command: ["/nonexistent"])
        }

        /// A command that adds a line with the identifier to a file.
        private func noting(_ folder: TemporaryFolder, _ name: String = "starts") -> BackgroundRelaunch {
            let script = "echo \"$\(BackgroundRelaunch.variable)\" >>\"$0\""
            return BackgroundRelaunch(command: ["/bin/sh", "-c", script, folder.file(name)])
        }

        private func lines(_ folder: TemporaryFolder, _ name: String = "starts") -> [String] {
            String(decoding: folder.read(name) ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
        }

        private func session(
            _ daemon: RunningDaemon, _ identifier: String, _ relaunch: BackgroundRelaunch?
        ) async throws(TransferError) -> BackgroundSession {
            var configuration = BackgroundConfiguration.background(identifier, service: daemon.service)
            configuration.relaunch = relaunch
            return try await BackgroundSession(configuration: configuration)
        }

        /// Records work as a program that ends then.
        private func leave(
            _ daemon: RunningDaemon, _ identifier: String, _ relaunch: BackgroundRelaunch?, tasks: Int = 1
        ) async throws {
            let session = try await session(daemon, identifier, relaunch)
            for _ in 0..<tasks { try await session.workTask("released", payload: []).resume() }
            await session.invalidate()
        }

        private func program() throws -> String {
            var buffer = [CChar](repeating: 0, count: 4096)
            let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
            try #require(count > 0)
            return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        // MARK: - The programs

        @Test(
            "be a program that records work and is killed, or is started again and confirms the results",
            .enabled(if: home != nil))
        func child() async throws {
            let home = try #require(Self.home)
            let identifier = BackgroundSession.relaunchIdentifier
            let start = "echo start >>\"$0/starts\"; \(Self.variable)=\"$0\" exec \"$@\""
            var configuration = BackgroundConfiguration.background(
                identifier ?? "photos", service: Self.service(home))
            configuration.relaunch = BackgroundRelaunch(
                command: ["/bin/sh", "-c", start, home, try program(), "--testing-library", "swift-testing"]
                    + ["--filter", "RelaunchTests"])
            let session = try await BackgroundSession(configuration: configuration)
            guard let identifier else {
                let count = Self.text(Self.countVariable).flatMap { UInt8($0) } ?? 3
                for number in 0..<count { try await session.workTask("released", payload: [number]).resume() }
                try await Task.sleep(for: .seconds(600))
                return
            }
            var taken: [UInt8] = []
            for await event in session.events {
                if case .finished(let status) = event { taken += status.result?.bytes ?? [] }
                if event == .caughtUp { break }
            }
            // Longer than programs do, since a busy daemon that has not confirmed by then would start another one.
            await session.invalidate(within: .seconds(180))
            let file = unsafe open(home + "/taken", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            defer { close(file) }
            let line = Array("\(identifier) \(taken.sorted())\n".utf8)
            unsafe _ = write(file, line, line.count)
        }

        @Test(
            "a program that was killed is started again when its work is done, and gets the results",
            .enabled(if: isTest))
        func killed() async throws {
            let folder = TemporaryFolder()
            let work = Released()
            try await withDaemon(folder, { $0.works["released"] = work }) { daemon in
                let program = try #require(
                    ChildProcess(running: "RelaunchTests", ["\(Self.variable)=\(folder.path)"]))
                defer { program.destroy() }
                let control = try await daemon.control()
                try await eventually("the program has recorded its work") { try await control.tasks().count == 3 }
                program.destroy()
                #expect(program.wait() & 0x7F == SIGKILL)
                work.release()
                try await eventually("the results are taken") { lines(folder, "taken").count == 1 }
                #expect(lines(folder, "taken") == ["photos [0, 1, 2]"])
                #expect(try await control.tasks().isEmpty)
            }
        }

        @Test(
            "tasks that end together are one start of a detached program, and a new end is another one",
            .enabled(if: isTest))
        func once() async throws {
            let folder = TemporaryFolder()
            let work = Released()
            try await withDaemon(folder, { $0.works["released"] = work }) { daemon in
                let script = """
                    own=no; [ "$(cut -d' ' -f6 /proc/$$/stat)" = $$ ] && own=yes
                    echo "$\(BackgroundRelaunch.variable) $own $(pwd) $(readlink /proc/$$/fd/0)" >>"$0"
                    """
                let relaunch = BackgroundRelaunch(command: ["/bin/sh", "-c", script, folder.file("starts")])
                try await leave(daemon, "photos & notes", relaunch, tasks: 5)
                work.release()
                try await eventually("it is started") { lines(folder).count == 1 }
                #expect(lines(folder) == ["photos & notes yes / /dev/null"])
                // It took none of the results.
                let control = try await daemon.control()
                _ = try await control.submit(
                    [BackgroundRequest(.custom(kind: "released", payload: []))], identifier: "photos & notes")
                try await eventually("it is started again") { lines(folder).count > 1 }
                #expect(lines(folder).count == 2)
                #expect(try await control.tasks().count == 6)
            }
        }

        @Test(
            "no program is started for a session that is attached, has no command or none any more",
            .enabled(if: isTest))
        func notWanted() async throws {
            let folder = TemporaryFolder()
            let work = Released()
            try await withDaemon(folder, { $0.works["released"] = work }) { daemon in
                let attached = try await session(daemon, "attached", noting(folder))
                try await attached.workTask("released", payload: []).resume()
                try await leave(daemon, "off", nil)
                try await leave(daemon, "removed", noting(folder))
                await (try session(daemon, "removed", nil)).invalidate()
                try await leave(daemon, "witness", noting(folder))
                work.release()
                try await eventually("one is started") { !lines(folder).isEmpty }
                #expect(lines(folder) == ["witness"])
                // The result of the attached session waits, too, once nothing is attached.
                await attached.invalidate()
                try await eventually("the other is started") { lines(folder).count > 1 }
                #expect(lines(folder) == ["witness", "attached"])
            }
        }

        @Test(
            "a program that has vanished is one line in the log, and the next daemon tries again",
            .enabled(if: isTest))
        func vanished() async throws {
            let folder = TemporaryFolder()
            let work = Released()
            work.release()
            let program = folder.write("program", Array("#!/bin/sh\necho again >>\"$0.starts\"\n".utf8))
            #expect(unsafe chmod(program, 0o700) == 0)
            let log = Log<String>()
            let configure = { (daemon: inout BackgroundDaemon) in
                daemon.works["released"] = work
                daemon.logger = Logger(label: "test") { _ in CollectingHandler(log) }
            }
            try await withDaemon(folder, configure) { daemon in
                let session = try await session(daemon, "photos", BackgroundRelaunch(command: [program]))
                #expect(unsafe rename(program, program + ".away") == 0)
                try await session.workTask("released", payload: []).resume()
                await session.invalidate()
                await log.wait { $0.contains { $0.contains("cannot be started") } }
                try await leave(daemon, "witness", noting(folder, "witness"))
                try await eventually("another one is started") { !lines(folder, "witness").isEmpty }
            }
            let failures = log.entries.filter { $0.contains("cannot be started") }
            #expect(failures.count == 1)
            #expect(failures.first?.contains("'\(program)'") == true)
            #expect(failures.first?.contains("No such file") == true)
            #expect(unsafe rename(program + ".away", program) == 0)
            try await withDaemon(folder, configure) { _ in
                try await eventually("it is started") { !lines(folder, "program.starts").isEmpty }
            }
        }

        @Test("be a daemon until it is killed", .enabled(if: daemonHome != nil))
        func childDaemon() async throws {
            var daemon = BackgroundDaemon(Self.service(try #require(Self.daemonHome)))
            daemon.idleTimeout = nil
            daemon.works["released"] = Released()
            try await daemon.run()
        }

        @Test(
            "a daemon that is killed between an end and the start leaves the start to the next one",
            .enabled(if: isTest))
        func daemonKilled() async throws {
            let folder = TemporaryFolder()
            let gate = Gate()
            let server = try FaultServer { peer, _ in
                gate.pass()
                return peer.respond(200, "photo") ? .keep : .close
            }
            defer { server.stop() }
            let daemon = try #require(
                ChildProcess(running: "RelaunchTests", ["\(Self.daemonVariable)=\(folder.path)"]))
            defer { daemon.destroy() }
            let service = Self.service(folder.path)
            try await eventually("the daemon listens") { try FrameConnection.connect(to: service.socketPath) != nil }
            var configuration = BackgroundConfiguration.background("photos", service: service)
            configuration.relaunch = noting(folder)
            let session = try await BackgroundSession(configuration: configuration)
            let task = session.downloadTask(server.request(), to: folder.file("photo"))
            try await task.resume()
            await session.invalidate()
            do {
                let control = try await BackgroundControl(service, isStarting: false)
                gate.open()
                try await eventually("it is done") { try await control.tasks().map(\.state) == [.done] }
                daemon.destroy()
                #expect(daemon.wait() & 0x7F == SIGKILL)
                await control.close()
            }
            try await withDaemon(folder) { _ in
                try await eventually("the program is started") { !lines(folder).isEmpty }
            }
            // A start that the first daemon could not record any more would be one too many.
            #expect(lines(folder).count <= 2 && lines(folder).allSatisfy { $0 == "photos" })
        }

        @Test(
            "where program and daemon are killed before the work is done, the next daemon does it, with one start",
            .enabled(if: isTest))
        func bothKilled() async throws {
            let folder = TemporaryFolder()
            let daemon = try #require(
                ChildProcess(running: "RelaunchTests", ["\(Self.daemonVariable)=\(folder.path)"]))
            defer { daemon.destroy() }
            let service = Self.service(folder.path)
            try await eventually("the daemon listens") { try FrameConnection.connect(to: service.socketPath) != nil }
            let program = try #require(
                ChildProcess(
                    running: "RelaunchTests",
                    ["\(Self.variable)=\(folder.path)", "\(Self.countVariable)=40"]))
            defer { program.destroy() }
            do {
                let control = try await BackgroundControl(service, isStarting: false)
                try await eventually("the program records its work") { try await control.tasks().count >= 3 }
                program.destroy()
                daemon.destroy()
                #expect(program.wait() & 0x7F == SIGKILL && daemon.wait() & 0x7F == SIGKILL)
                await control.close()
            }
            let work = Released()
            try await withDaemon(folder, { $0.works["released"] = work }) { daemon in
                let control = try await daemon.control()
                let tasks = try await control.tasks()
                #expect(tasks.count >= 3 && tasks.allSatisfy { !$0.isFinished })
                #expect(lines(folder).isEmpty)
                work.release()
                try await eventually("the results are taken") { lines(folder, "taken").count == 1 }
                #expect(lines(folder, "taken") == ["photos \(Array(0..<tasks.count))"])
                // Nothing is left for which the program could be started once more.
                #expect(try await control.tasks().isEmpty)
                #expect(lines(folder) == ["start"])
            }
        }

        @Test("a daemon that is about to start a program does not end for idleness", .enabled(if: isTest))
        func idle() async throws {
            let folder = TemporaryFolder()
            let work = Released()
            try await withDaemon(folder, { $0.works["released"] = work }) { daemon in
                try await leave(daemon, "photos", noting(folder))
            }
            let next = try await RunningDaemon(folder) { daemon in
                daemon.works["released"] = work
                daemon.idleTimeout = .milliseconds(1)
            }
            work.release()
            try await next.ended()
            try await eventually("the program has run") { lines(folder) == ["photos"] }
        }
    }
}

struct RelaunchCommandTests {
    @Test("a command that cannot be started is refused before anything is recorded")
    func refused() async throws {
        let folder = TemporaryFolder()
        let plain = folder.write("plain", [1])
        let commands: [([String], String)] = [
            ([], "absolute"), (["sh"], "absolute"), (["/nonexistent/program"], "'/nonexistent/program'"),
            ([folder.path], "executable"), ([plain], "'\(plain)'"), (["/bin/sh", "a\0b"], "NUL"),
            (["/bin/sh"] + Array(repeating: "", count: 256), "256"),
            (["/bin/sh", String(repeating: "x", count: 64 << 10)], "65536"),
            (["/" + String(repeating: "x", count: 4095)], "4095"),
        ]
        for (command, word) in commands {
            let daemon = FakeDaemon()
            var configuration = BackgroundConfiguration.background("photos", service: daemon.service)
            configuration.relaunch = BackgroundRelaunch(command: command)
            let error = await failure { () async throws(TransferError) in
                try await BackgroundSession(configuration: configuration, daemon.connector)
            }
            #expect(error?.code == .badConfiguration && error?.message.contains(word) == true, "\(command)")
            #expect(daemon.calls.entries.isEmpty)
        }
    }

    @Test("the command is recorded with the session's identifier, and is none unless it is asked for")
    func recorded() async throws {
        let daemon = FakeDaemon()
        let relaunch = BackgroundRelaunch(command: ["/bin/sh", "-c", "exit 0"])
        var configuration = BackgroundConfiguration.background("photos", service: daemon.service)
        #expect(configuration.relaunch == nil)
        configuration.relaunch = relaunch
        await (try BackgroundSession(configuration: configuration, daemon.connector)).invalidate()
        #expect(daemon.calls.entries.contains(.attach(identifier: "photos", relaunch: relaunch)))
        #expect(BackgroundSession.relaunchIdentifier == nil)
    }
}

struct RelaunchFolderTests {
    private let home = TemporaryFolder()

    private func record(_ identifier: String) -> RelaunchRecord {
        RelaunchRecord(
            identifier: identifier, relaunch: BackgroundRelaunch(command: ["/usr/bin/album", "--take", "Zürich"]),
            started: 1 << 40)
    }

    @Test("commands of any identifier are read as they were written, by the owner alone, until they are removed")
    func roundTrip() throws {
        let folder = try TaskFolder(home.file("tasks"))
        let names = ["a", "../b", String(repeating: "ü", count: 100), "a.relaunch"]
        for name in names { try folder.save(record(name)) }
        try folder.save(record("a"))
        #expect(Set(folder.relaunches().records.map(\.identifier)) == Set(names))
        #expect(folder.relaunches().records.allSatisfy { $0 == record($0.identifier) })
        var status = stat()
        #expect(unsafe stat(folder.relaunchFile("a"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try folder.load().tasks.isEmpty && folder.relaunches().records.count == names.count)
        for name in names { folder.removeRelaunch(name) }
        #expect(TemporaryFolder.entries(folder.path).isEmpty)
    }

    @Test("a damaged or invalid command is moved away and reported, and affects no other")
    func damage() throws {
        let folder = try TaskFolder(home.file("tasks"))
        try folder.save(record("good"))
        let file = folder.relaunchFile("bad")
        let name = try #require(file.split(separator: "/").last.map(String.init))
        try folder.save(record("bad"))
        let whole = try #require(home.read("tasks/\(name)"))
        func expectDamage(_ what: String) {
            let (records, damage) = folder.relaunches()
            #expect(records == [record("good")], "\(what)")
            #expect(damage.count == 1 && damage.first?.contains("damaged/\(name)") == true, "\(what): \(damage)")
            #expect(unsafe access(file, F_OK) != 0, "\(what)")
        }
        for place in stride(from: 0, to: whole.count, by: 7) {
            var bytes = whole
            bytes[place] ^= 1
            _ = home.write("tasks/\(name)", bytes)
            expectDamage("byte \(place)")
        }
        // A whole record under another session's name, and records that this library would not write.
        var records = [record("other"), record("bad"), record("bad"), record("bad")]
        records[1].relaunch.command = ["relative"]
        records[2].relaunch.command = []
        records[3].relaunch.command = Array(repeating: "/", count: 1000)
        for record in records {
            try SealedFile.write(record.encoded, kind: "bgagain1", to: file, isDurable: false)
            expectDamage("\(record.identifier) \(record.relaunch.command.count)")
        }
        _ = home.write("tasks/\(name)", [UInt8](repeating: 0, count: 1 << 20))
        expectDamage("a long file")
        // What is no file of this library's is reported and left.
        #expect(unsafe symlink("/dev/zero", file) == 0)
        #expect(folder.relaunches().records == [record("good")] && folder.relaunches().damage.count == 1)
        #expect(unsafe unlink(file) == 0 && mkdir(file, 0o700) == 0)
        #expect(folder.relaunches().records == [record("good")])
    }
}
