import ByteClubCore

/// The pages of a server's journal, without the contents that this engine has sent since its start.
///
/// One that it does not have any more is fetched by itself.
struct JournalPages: Sendable {
    private static let limit = 2_000

    let wire: any SyncRemote
    /// What the engine's operations begin with, before a hyphen and a number.
    let writer: String

    /// The page after a cursor, or the first one, waiting for a change when there is none.
    ///
    /// - Throws: As ``SyncRemote/journal(after:limit:contents:wait:)``.
    func page(after cursor: String?, wait: Duration = .zero) async throws(RemoteError) -> SyncChanges {
        try await wire.journal(after: cursor, limit: Self.limit, contents: .besides(writer: writer), wait: wait)
    }

    /// Starts to fetch a page while the previous one is applied.
    func fetch(after cursor: String, _ workers: (any TaskExecutor)?) -> Task<SyncChanges, any Error> {
        Task(executorPreference: workers) { try await page(after: cursor) }
    }
}
