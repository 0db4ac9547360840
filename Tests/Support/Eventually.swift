public import Testing

/// Waits until something that no event tells of has come true, for three minutes at most.
public func eventually(
    _ what: String, location: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(180)
    while try await !condition() {
        try #require(clock.now < end, "\(what): not in three minutes", sourceLocation: location)
        try await clock.sleep(for: .milliseconds(2))
    }
}
