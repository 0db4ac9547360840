import ByteClubCore

/// Lists a folder, one request for each folder that is looked into.
struct FolderListing: Sendable {
    /// Whether what is deleted is listed, and nothing else.
    var isDeleted = false
    /// Whether folders in the folder are looked into.
    var isRecursive = false
    /// Whether folders that are not looked into are listed, too.
    var hasFolders = false
    /// A folder that is left out.
    var excluded: RemotePath?
    /// Whether photos come with what is known of them as pictures.
    var hasMediaInfo = false

    /// The files that a folder has, and with ``hasFolders`` its folders; none when there is no such folder.
    ///
    /// What is deleted comes with the deleted folders themselves, unless these are looked into.
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
            // A child that lies elsewhere would lead the listing round in circles, and a download out of its folder.
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

    /// Whether there are folders among what was found, of which files may be counted.
    static func haveFolders(_ found: [Metadata]?) -> Bool { found?.contains { $0.isFolder && !$0.isDeleted } ?? false }

    /// What is said behind an empty list of what may be in folders as well; nothing when these were looked into.
    var hint: String { isRecursive ? "" : " here; --recursive lists folders as well" }

    /// How many files lie below each folder in a folder, by the folders' keys; nil where one request does not tell.
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

    /// The files directly in a folder, in the order of their names; none when there is no such folder yet.
    static func files(
        of folder: RemotePath, _ remote: any Remote, where isWanted: (Metadata) -> Bool = { _ in true }
    ) async throws -> EntryList {
        let entries = try await FolderListing().entries(of: folder, remote, where: isWanted) ?? []
        return EntryList(entries: ListingOrder.name.sorted(entries, below: folder), folder: folder)
    }
}

/// What entries are listed by.
enum ListingOrder: String, Sendable, CaseIterable {
    case name, date, size, stored

    /// Sorts entries: names as people look for them, the newest and the largest first.
    ///
    /// A photo's date is the clock's of its place, and another file's that of `calendar`.
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
    /// Whether this is a picture, as its name or the server tells.
    var isPhoto: Bool { mimeType == "image/jpeg" || hasThumbnail }
}
