import ByteClubCore
import MemoryRemote
import Synchronization
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// What happens between two steps of engines that run all day.
extension LastMomentTests {
    @Test("a second write that leaves the times of the first one is sent as well")
    func sameTimes() {
        let club = SimulatedClub()
        let disk = club.machines[0].disk
        let tick: Int64 = 2_000_000_000
        disk.granularity = tick
        disk.write("note", "one")
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        disk.time += tick - disk.time % tick
        disk.write("note", "two")
        club.pass(.milliseconds(500))
        #expect(club.machines[1].disk.text("note") == "two")
        disk.write("note", "six")
        club.pass(.seconds(5))
        #expect(club.machines[1].disk.text("note") == "six")
    }

    @Test("a folder is not deleted with what came into it right before our own last write there")
    func deletionAfterOwnWrite() async throws {
        let club = SimulatedClub(usesExtension: false)
        let machine = club.machines[0]
        machine.disk.makeFolder("p")
        for path in ["p/x", "y"] { machine.disk.write(path, "one") }
        machine.start()
        club.pass(.seconds(10))
        machine.network.onChange = {}
        _ = try await club.server.put(
            .bytes(Array("theirs".utf8)), at: RemotePath("/p/theirs"), condition: .overwrite, policy: .fail,
            progress: nil)
        machine.disk.write("p/x", "longer")
        club.pass(.milliseconds(50))
        #expect(try await club.server.metadata(at: RemotePath("/p/x")).bytes == 6)
        machine.disk.delete("p")
        club.pass(.seconds(10))
        machine.network.endWait()
        club.pass(.seconds(10))
        #expect(machine.disk.text("p/theirs") == "theirs")
        #expect(try await club.server.metadata(at: RemotePath("/p/theirs")).bytes == 6)
    }

    @Test("a page of the server's changes that comes late brings nothing back")
    func latePage() async throws {
        let club = SimulatedClub()
        let (machine, other) = (club.machines[0], club.machines[1])
        for name in ["a", "b", "c"] { other.disk.write(name, name) }
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        let cursor = try #require(machine.database.meta(.cursor))
        other.disk.write("note", "one")
        club.pass(.seconds(5))
        let page = try await club.server.journal(after: cursor, limit: 100, contents: .all, wait: .zero)
        #expect(page.page.entries.count == 1 && machine.disk.text("note") == "one")
        other.disk.delete("note")
        club.pass(.seconds(30))
        #expect(machine.disk.text("note") == nil)
        let made = Mutex(0)
        machine.disk.before = { call in if call.verb == .create { made.withLock { $0 += 1 } } }
        machine.inbox.post(.polled(.page(page, after: cursor)))
        club.pass(.seconds(5))
        machine.disk.before = nil
        #expect(made.withLock { $0 } == 0)
    }

    @Test("a write through one of a file's two names is sent under both")
    func twoNames() {
        let club = SimulatedClub()
        let disk = club.machines[0].disk
        disk.write("a", "one")
        disk.link("a", to: "b")
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        #expect(club.machines[1].disk.text("b") == "one")
        disk.write("a", "two")
        club.pass(.seconds(5))
        #expect(["a", "b"].map { club.machines[1].disk.text($0) } == ["two", "two"])
    }

    @Test("a write through one of two names in different folders is sent under both")
    func twoFolders() {
        let club = SimulatedClub()
        let disk = club.machines[0].disk
        for folder in ["d", "e"] { disk.makeFolder(folder) }
        disk.write("d/a", "one")
        disk.link("d/a", to: "e/b")
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        #expect(club.machines[1].disk.text("e/b") == "one")
        disk.write("d/a", "two")
        club.pass(.seconds(5))
        #expect(["d/a", "e/b"].map { club.machines[1].disk.text($0) } == ["two", "two"])
    }

    @Test("what is written to a file after it was replaced comes back while nothing else happens")
    func lateWriteAtRest() throws {
        let club = SimulatedClub()
        let disk = club.machines[1].disk
        club.machines[0].disk.write("note", "one")
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        disk.knowsWriters = false
        let writer = try #require(disk.openForWriting("note"))
        club.machines[0].disk.write("note", "two")
        // Racy files are scanned again by then.
        club.pass(.seconds(5))
        #expect(disk.text("note") == "two")
        writer.write("late")
        writer.close()
        club.pass(.seconds(10))
        #expect(disk.tree().contains { $0.content == Array("late".utf8) })
    }

    @Test("a mirror that rests and is gone is noticed at the next event, whatever that tells")
    func goneAtRest() {
        let club = SimulatedClub()
        let machine = club.machines[0]
        machine.disk.write("note", "one")
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        machine.disk.mount = .empty
        machine.inbox.post(.disk(DiskChange(closed: [.root: ["nothing"]])))
        club.pass(.seconds(1))
        let error = #expect(throws: SyncError.self) { try machine.lastOutcome?.get() }
        #expect(error?.code == .rootReplaced)
    }

    @Test("a folder that came a moment ago is deleted on the server by one call")
    func newFolderDeleted() async throws {
        let club = SimulatedClub()
        let (writer, reader) = (club.machines[0], club.machines[1])
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        writer.disk.makeFolder("p")
        writer.disk.write("p/x", "one")
        club.pass(.seconds(5))
        #expect(reader.disk.text("p/x") == "one")
        let calls = Mutex(0)
        reader.network.server.fault = { operation in
            if operation.kind == .apply, operation.moment == .before { calls.withLock { $0 += 1 } }
        }
        reader.disk.delete("p")
        club.pass(.seconds(10))
        #expect(writer.disk.tree().isEmpty && calls.withLock { $0 } == 1, "\(calls.withLock { $0 }) calls")
    }

    @Test("a file that has gone when it is scanned by itself has its folder scanned")
    func goneWhenScanned() {
        let club = SimulatedClub()
        let machine = club.machines[0]
        machine.disk.write("note", "one")
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        // As an exchange is told after which the file went away.
        machine.disk.onChange = nil
        machine.disk.delete("note")
        machine.inbox.post(.disk(DiskChange(closed: [.root: ["note"]])))
        club.pass(.seconds(5))
        #expect(club.machines[1].disk.text("note") == nil)
    }
}
