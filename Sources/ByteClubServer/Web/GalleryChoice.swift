import ByteClubCore

/// What the gallery shows, as `show` in its address says.
enum GalleryChoice: String, CaseIterable {
    case all, panoramas

    /// The link to it.
    var name: String {
        switch self {
        case .all: "All"
        case .panoramas: "Panoramas"
        }
    }

    /// The kinds of photos; nil for all there is.
    var kinds: Set<PhotoShape.Kind>? {
        switch self {
        case .all: nil
        case .panoramas: PhotoShape.Kind.panoramas
        }
    }

    /// The address of the page with what is older than a place; of the first page for nil.
    func address(before place: GalleryPlace?) -> String {
        let fields = (self == .all ? [] : ["show=\(rawValue)"]) + (place.map { ["before=\($0)"] } ?? [])
        return "/gallery" + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
    }

    /// Links to months, under their years, by the newest date of each.
    func years(_ months: [APIDate]) -> [(year: String, months: [(name: String, url: String)])] {
        var years: [(year: String, months: [(name: String, url: String)])] = []
        for newest in months {
            // As in `2026-08-05T16:40:12Z`, and in `05 Aug 2026`.
            let year = String(newest.rfc3339.prefix { $0 != "-" })
            if years.last?.year != year { years.append((year, [])) }
            let place = GalleryPlace(seconds: newest.seconds + 1, revision: 0)
            years[years.count - 1].months.append(
                (String(WebSite.day(newest).dropFirst(3).prefix(3)), address(before: place)))
        }
        return years
    }
}
