import ByteClubCore

/// Searches in the names and texts of entries.
protocol SearchStore: Sendable {
    /// What is below a folder and matches a query; what was just written as well.
    ///
    /// - Throws: As ``SharedFolder/existing(_:)`` when the folder is gone.
    func searchTexts(
        _ path: RemotePath, query: TextQuery, includeDeleted: Bool, limit: Int
    ) async throws -> TextSearchResults

    /// Makes searches ready for some of what was written since the last call, in a time that writers hardly notice.
    ///
    /// - Returns: Up to which change all is ready; nil while there is more.
    func indexTexts() async throws -> Int64?

    /// Empties the index, so that ``indexTexts()`` makes it anew.
    func forgetTexts() async throws
}
