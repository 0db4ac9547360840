import ByteClubCore

/// Lists a folder in one request.
enum FolderListing {
    /// The files directly in a folder; none when there is no such folder yet.
    static func files(
        of folder: RemotePath, _ remote: any Remote, where isWanted: (Metadata) -> Bool = { _ in true }
    ) async throws -> EntryList {
        do {
            return .files(of: try await remote.list(folder, unless: nil, includeDeleted: false), where: isWanted)
        } catch {
            guard error.code == .notFound else { throw error }
            return EntryList(entries: [])
        }
    }
}
