/// Tells of those who were let in whether they still are.
protocol StandingStore: Sendable {
    /// A number that is another one after each change by which a member, a device, a session or a link went, in this
    /// process or in another one.
    func standingVersion() async throws -> Int64

    /// Those of some standings that let nobody in: unknown, removed, or of a member who was.
    func lapsed(_ standings: Set<Standing>) async throws -> Set<Standing>
}
