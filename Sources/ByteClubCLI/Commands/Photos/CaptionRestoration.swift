import ByteClubCore

/// Brings the caption of a removed photo back with it.
enum CaptionRestoration {
    /// How many seconds after its photo a caption goes that is removed with it; a mirror may send the two in any order.
    private static let together: ClosedRange<Int64> = -2...60

    /// When an entry was removed; nil for one that is there, and where nobody knows.
    static func removal(of path: RemotePath, _ remote: any Remote) async throws -> APIDate? {
        try await removed(path, limit: 1, remote)?.date
    }

    /// Restores the caption of a photo that was removed at a time, when it was removed together with it and no other
    /// one is there.
    ///
    /// - Returns: The caption; nil when none came back.
    static func restore(
        captionOf photo: RemotePath, removedAt date: APIDate?, _ remote: any Remote
    ) async throws -> Metadata? {
        guard let date, let path = try? PhotoCaption.path(of: photo),
            let caption = try await removed(path, limit: EntryVersions.most, remote), let last = caption.last,
            together.contains(caption.date.seconds - date.seconds)
        else { return nil }
        return try await remote.restore(path, to: last)
    }

    private static func removed(
        _ path: RemotePath, limit: Int, _ remote: any Remote
    ) async throws -> (date: APIDate, last: Revision?)? {
        let versions: [Metadata]
        do {
            versions = try await remote.revisions(of: path, limit: limit)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
        guard let newest = versions.first, newest.isDeleted, let date = newest.modified else { return nil }
        return (date, versions.first { !$0.isDeleted }?.rev)
    }
}
