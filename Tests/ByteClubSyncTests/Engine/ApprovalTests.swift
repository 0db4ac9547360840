import ByteClubCore
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Deletions that are held, and approved while the disk is changing.
@Suite struct ApprovalTests {
    @Test("an approval that comes while the disk is changing counts when it has settled")
    func whileSettling() throws {
        let club = SimulatedClub()
        let (writer, reader) = (club.machines[0], club.machines[1])
        writer.configuration.approvesDeletions = false
        let names = (0..<60).map { "note \($0).txt" }
        for name in names { writer.disk.write(name, name) }
        for machine in club.machines { machine.start() }
        club.pass(.seconds(10))
        #expect(reader.disk.tree().count == 60)
        for name in names { writer.disk.delete(name) }
        club.pass(.seconds(10))
        let held = writer.database.heldDeletions()
        #expect(held.count == 60 && reader.disk.tree().count == 60)
        try writer.database.transaction(durably: true) {
            try writer.database.replace(held.map { ApprovedDeletion($0.item) })
        }
        for number in 0..<10 {
            writer.disk.makeFolder("folder \(number)")
            writer.nudge()
            club.pass(.milliseconds(50))
        }
        club.pass(.seconds(10))
        #expect(reader.disk.tree().count == 10 && writer.database.heldDeletions().isEmpty)
    }
}
