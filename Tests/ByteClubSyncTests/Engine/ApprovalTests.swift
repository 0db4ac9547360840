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

    @Test("deletions that are held while the disk is changing are shown as held at once")
    func heldWhileSettling() {
        var deletions = DeletionGuard(DeleteGuard(), approvesAll: false)
        let candidates =
            (1...60).map { DeletionGuard.Candidate(operation: .disk(ItemID($0), .trash), weight: 1) }
            + (61...90).map { DeletionGuard.Candidate(operation: .server(ItemID($0), .delete), weight: 2) }
        let known = Set((81...90).map { ItemID($0) })
        let verdict = deletions.judge(
            candidates, of: 100, approved: [ItemID(81)], held: known, isSettling: true,
            at: SyncInstant(sinceStart: .seconds(1)))
        #expect(verdict.isDeferred && verdict.allowed.isEmpty)
        #expect(verdict.held.map(\.item).sorted() == (Array(1...60) + Array(82...90)).map { ItemID($0) })
        #expect(verdict.heldWeight == 60 + 18)
    }
}
