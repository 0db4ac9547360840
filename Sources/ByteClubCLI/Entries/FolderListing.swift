import ByteClubCore

/// Lists a folder, with a request per folder.
struct FolderListing: Sendable {
    /// Whether to list only deleted entries.
    var isDeleted = false
    /// Whether to list subfolders recursively.
    var isRecursive = false
    /// Whether to include subfolders that are not listed recursively.
    var hasFolders = false
    /// A folder that is left out.
    var excluded: RemotePath?
    /// Whether to request the server's facts about photos.
    var hasMediaInfo = false

    /// The files of a folder, and with ``hasFolders`` its folders; nil when there is no such folder.
    ///
    /// A list of deleted entries includes deleted folders, unless it is recursive.
    func entries(
        of folder: RemotePath, _ remote: any Remote, where isWanted: (Metadata) -> Bool = { _ in true }
    ) async throws -> [Metadata]? {
        var found: [Metadata] = []
        var (rest, isThere) = ([folder], false)
        while let next = rest.popLast() {
            let listed: Metadata?
            do {
                listed =
                    hasMediaInfo
                    ? try await remote.listWithMediaInfo(next, includeDeleted: isDeleted)
                    : try await remote.list(next, unless: nil, includeDeleted: isDeleted)
            } catch {
                guard error.code == .notFound else { throw error }
                continue
            }
            guard let listed, listed.isFolder, isDeleted || !listed.isDeleted else { continue }
            isThere = true
            // A malicious server could send children of other folders: an endless listing, or a download outside its
            // folder.
            for child in listed.contents ?? []
            where child.path.key != excluded?.key && child.path.parent?.key == next.key {
                if child.isFolder, isRecursive {
                    rest.append(child.path)
                } else if child.isDeleted == isDeleted, !child.isFolder || isDeleted || hasFolders, isWanted(child) {
                    found.append(child)
                }
            }
        }
        return isThere ? found : nil
    }

    /// Whether a result has existing folders, whose files can be counted.
    static func haveFolders(_ found: [Metadata]?) -> Bool { found?.contains { $0.isFolder && !$0.isDeleted } ?? false }

    /// The end of a message about an empty list: advice to include subfolders, if they were not listed.
    var hint: String { isRecursive ? "" : " here; --recursive lists folders as well" }

    /// The number of files below each subfolder, by the folders' keys; nil when one request is not enough.
    func counts(
        in folder: RemotePath, _ remote: any Remote, where isCounted: (Metadata) -> Bool
    ) async -> [PathKey: Int]? {
        guard let page = try? await remote.delta(after: nil, prefix: folder), !page.hasMore else { return nil }
        var counts: [PathKey: Int] = [:]
        for file in page.entries.compactMap(\.metadata) where !file.isFolder && file.path.key.isBelow(folder.key) {
            if let excluded, file.path.key.isBelow(excluded.key) { continue }
            guard isCounted(file) else { continue }
            var place = file.path.key
            while let above = place.parent, above != folder.key { place = above }
            if place != file.path.key { counts[place, default: 0] += 1 }
        }
        return counts
    }
}

/// The key that entries are sorted by.
enum ListingOrder: String, Sendable, CaseIterable {
    case name, date, size, stored

    /// Sorts entries: names in natural order, dates and sizes from newest and largest.
    ///
    /// A photo's date is the local time of its place; the date of other files is in `calendar`.
    func sorted(
        _ entries: [Metadata], below folder: RemotePath, _ calendar: (Int64) -> CalendarTime = CalendarTime.utc
    ) -> [Metadata] {
        let named = entries.map {
            (weight: weight($0, calendar), name: NaturalOrder($0.path.name(below: folder)), entry: $0)
        }
        return named.sorted { $0.weight == $1.weight ? $0.name < $1.name : $0.weight > $1.weight }.map(\.entry)
    }

    private func weight(_ entry: Metadata, _ calendar: (Int64) -> CalendarTime) -> Int64 {
        switch self {
        case .name: 0
        case .date: entry.clock(calendar)?.seconds ?? .min
        case .stored: entry.modified?.seconds ?? .min
        case .size: entry.bytes
        }
    }
}

extension Metadata {
    /// Whether this is a picture, by its name or the server's media type.
    var isPhoto: Bool { mimeType == "image/jpeg" || hasThumbnail }
}
