/// The same rows where there is less to build on.
extension CrashScenario {
    /// A choice of them on a server that has no identities, no batches and no chunks.
    static let plain: [Self] = curated.map {
        var scenario = $0
        scenario.name = "over plain v1, " + $0.name
        scenario.usesExtension = false
        return scenario
    }

    /// Those that replace a content, on a disk that exchanges two entries in three steps.
    static let withoutExchange: [Self] = curated.map {
        var scenario = $0
        scenario.name = "without exchange, " + $0.name
        scenario.canExchange = false
        return scenario
    }
}
