import ByteClubCore
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Folders that are deleted on one side while there is more in them on the other.
@Suite struct LeftoverTests {
    @Test("a folder that holds only ignored files stays when it is deleted on the server, and is settled at once")
    func ignored() throws {
        let club = SimulatedClub()
        let (writer, reader) = (club.machines[0], club.machines[1])
        writer.disk.write(".byteclubignore", "*.part\n")
        writer.disk.makeFolder("photos")
        writer.disk.write("photos/a.txt", "a")
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        reader.disk.write("photos/b.part", "half")
        club.pass(.seconds(5))
        writer.disk.delete("photos")
        club.pass(.seconds(10))
        #expect(writer.disk.tree().map(\.path) == [".byteclubignore"])
        #expect(reader.disk.tree().map(\.path).sorted() == [".byteclubignore", "photos", "photos/b.part"])
        for machine in club.machines {
            let unsettled = machine.account.filter { $0.contains("UNSETTLED") }
            #expect(unsettled.isEmpty)
        }
    }

    @Test("a folder that is deleted here while something new arrives in it is made again, and watched like any other")
    func madeAgain() {
        let club = SimulatedClub()
        let (writer, reader) = (club.machines[0], club.machines[1])
        writer.disk.makeFolder("notes")
        writer.disk.write("notes/a", "a")
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        writer.disk.write("notes/b", "b")
        reader.disk.delete("notes")
        club.pass(.seconds(10))
        #expect(reader.disk.tree().map(\.path).sorted() == ["notes", "notes/b"])
        reader.disk.write("notes/b", "edited")
        club.pass(.seconds(10))
        #expect(writer.disk.tree().compactMap(\.content) == [Array("edited".utf8)])
    }
}
