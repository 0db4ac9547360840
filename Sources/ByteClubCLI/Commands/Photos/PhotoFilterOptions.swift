import ArgumentParser
import ByteClubCore

/// Options that filter photos by kind, time and place.
struct PhotoFilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("List only photos of these kinds: \(PhotoShape.Kind.words).", valueName: "kinds"),
        completion: .list(PhotoShape.Kind.allCases.map(\.rawValue)),
        transform: { text in
            guard let kinds = PhotoFilter.kinds(text) else {
                throw ValidationError("must be one or more, separated by commas, of: \(PhotoShape.Kind.words)")
            }
            return kinds
        })
    var kind: Set<PhotoShape.Kind>?

    @Option(
        help: ArgumentHelp(
            "List only photos taken at or after this time: 2026-08-01, '2026-08-01 14:03', RFC 3339, or 2w (ago).",
            valueName: "date"))
    var since: String?

    @Option(help: ArgumentHelp("List only photos taken before this time, or on or before this day.", valueName: "date"))
    var until: String?

    // A southern latitude begins with a minus, like an option.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "List only photos taken within so many km, by default 10, of a place in degrees north and east.",
            valueName: "lat,lon[,km]"),
        transform: { text in
            guard let circle = GeographicCircle(text) else {
                throw ValidationError("write degrees north and east, and optionally kilometres: 46.02,7.75,5")
            }
            return circle
        })
    var near: GeographicCircle?

    /// The names of the given options, for messages.
    var names: [String] {
        [
            kind.map { _ in "--kind" }, since.map { _ in "--since" }, until.map { _ in "--until" },
            near.map { _ in "--near" },
        ].compactMap(\.self)
    }

    /// The filter.
    ///
    /// - Throws: A ``Failure`` with the status usage for an invalid time.
    func filter(now: Int64, _ calendar: (Int64) -> CalendarTime) throws -> PhotoFilter {
        let (since, until) = try Self.span(since: since, until: until, now: now, calendar)
        return PhotoFilter(
            kinds: kind, since: since.map { APIDate(seconds: $0) }, until: until.map { APIDate(seconds: $0) },
            near: near)
    }

    /// The first second, and the one after the last, since 1970; nil without the option.
    ///
    /// They are local times of the photos' places; `2w` ago, and times with a zone, are converted by `calendar`.
    ///
    /// - Throws: A ``Failure`` with the status usage for an invalid time, and for an empty span.
    static func span(
        since: String?, until: String?, now: Int64, _ calendar: (Int64) -> CalendarTime
    ) throws -> (since: Int64?, until: Int64?) {
        func clock(_ text: String) throws -> Int64 {
            // A time without a zone is used unchanged, even if no clock shows it because of a change to summer time.
            try CalendarTime(text)?.secondsAsUTC
                ?? calendar(PastMoment.any(text, now: now, calendar)).secondsAsUTC
        }
        let start = try since.map { try clock($0) }
        let end = try until.map { text in
            let end = try clock(text)
            return text.utf8.count == 10 && CalendarTime(text) != nil ? end + 86_400 : end
        }
        if let start, let end, start >= end {
            throw Failure(.usage, "--since must be before --until")
        }
        return (start, end)
    }
}

extension PhotoShape.Kind {
    /// The words for all kinds.
    static let words = allCases.map(\.rawValue).joined(separator: ", ")
}

extension FolderListing {
    /// The most photos to request from a search.
    private static let mostFound = 10_000

    /// The photos of a folder that match a filter, and how many the server has not read yet.
    ///
    /// The server searches for them if it can; otherwise, or when there are too many, all photos are listed.
    ///
    /// - Throws: A ``Failure`` when the server has no properties of photos.
    func photos(
        of folder: RemotePath, _ filter: PhotoFilter, _ remote: any Remote, _ calendar: (Int64) -> CalendarTime
    ) async throws -> (photos: [Metadata], pending: Int) {
        if let search = try await remote.powers().photoSearch {
            do {
                let found = try await search.searchPhotos(folder, filter, limit: Self.mostFound)
                if found.isComplete {
                    return (found.photos.filter { isRecursive || $0.path.parent?.key == folder.key }, 0)
                }
            } catch {
                guard error.code == .notFound else { throw error }
                return ([], 0)
            }
        }
        let all = try await entries(of: folder, remote, where: \.isPhoto) ?? []
        if !all.isEmpty, all.allSatisfy({ $0.photoInfo == nil }) {
            throw Failure(
                .unavailable,
                "this server does not support --kind, --since, --until and --near")
        }
        let pending = all.filter { $0.photoInfo?.isPending == true }.count
        let found = all.filter { photo in
            guard let info = photo.photoInfo, !info.isPending else { return false }
            return filter.matches(kind: info.shape?.kind, date: photo.clock(calendar), place: info.place)
        }
        return (found, pending)
    }
}
