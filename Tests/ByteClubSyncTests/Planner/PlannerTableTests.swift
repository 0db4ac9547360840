import Testing

/// What the planner decides, rule by rule: small trees by name, and the whole plan for each.
///
/// Each table is there to be read. That the plans converge and lose nothing is shown by all small trees and many random
/// ones elsewhere.
@Suite struct PlannerTableTests {
    private func check(_ row: PlannerRow) throws {
        let (plan, rules) = try row.decided()
        #expect(plan == row.plan)
        #expect(rules == row.rules)
    }

    @Test("what becomes of a content", arguments: PlannerRow.contents)
    func contents(row: PlannerRow) throws { try check(row) }

    @Test("when a conflict copy is made, and what it is called", arguments: PlannerRow.copies)
    func copies(row: PlannerRow) throws { try check(row) }

    @Test("what is decided while a hash is not known", arguments: PlannerRow.hashes)
    func hashes(row: PlannerRow) throws { try check(row) }

    @Test("where an entry goes that was moved", arguments: PlannerRow.locations)
    func locations(row: PlannerRow) throws { try check(row) }

    @Test("a location and a content are decided apart", arguments: PlannerRow.locationsAndContents)
    func locationsAndContents(row: PlannerRow) throws { try check(row) }

    @Test("which spellings are one name", arguments: PlannerRow.spellings)
    func spellings(row: PlannerRow) throws { try check(row) }

    @Test("how names pass from one entry to another", arguments: PlannerRow.names)
    func names(row: PlannerRow) throws { try check(row) }

    @Test("who waits for a name", arguments: PlannerRow.waitingForNames)
    func waitingForNames(row: PlannerRow) throws { try check(row) }

    @Test("what becomes of entries with temporary names", arguments: PlannerRow.temporaryNames)
    func temporaryNames(row: PlannerRow) throws { try check(row) }

    @Test("who gives way when two entries want one name", arguments: PlannerRow.clashes)
    func clashes(row: PlannerRow) throws { try check(row) }

    @Test("what becomes of folders that are left over", arguments: PlannerRow.leftovers)
    func leftovers(row: PlannerRow) throws { try check(row) }

    @Test("what a deletion takes away", arguments: PlannerRow.deletions)
    func deletions(row: PlannerRow) throws { try check(row) }

    @Test("what keeps a folder that was deleted", arguments: PlannerRow.folderDeletions)
    func folderDeletions(row: PlannerRow) throws { try check(row) }

    @Test("in which order folders come and what is in them", arguments: PlannerRow.folders)
    func folders(row: PlannerRow) throws { try check(row) }

    @Test("folders that would come to lie in themselves", arguments: PlannerRow.cycles)
    func cycles(row: PlannerRow) throws { try check(row) }

    @Test("nothing is decided about what is excluded or frozen", arguments: PlannerRow.held)
    func held(row: PlannerRow) throws { try check(row) }
}
