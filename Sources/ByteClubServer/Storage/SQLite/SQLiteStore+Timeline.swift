import ByteClubCore
import FoundationEssentials
import GRDB

extension SQLiteStore {
    /// The most months that a page has links to.
    private static let mostMonths = 600
    /// The most items of an index.
    private static let mostIndexed = 200_000

    func gallery(_ side: GallerySide, matching filter: GalleryFilter, limit: Int) async throws -> GalleryPage {
        let files = files
        return try await readFolder { folder, database in
            var page = GalleryPage()
            page.revision = try Self.lastRevision(in: database)
            let order = if case .older = side { "DESC" } else { "ASC" }
            guard
                let choice = try GalleryChoiceSQL(filter, side, folder, SearchIndex(database: database, files: files))
            else { return page }
            let sql = """
                WITH page AS (\(choice.items) ORDER BY 1 \(order), 2 \(order) LIMIT \(choice.isExact ? limit : -1))
                SELECT \(Self.itemColumns) FROM page \(Self.itemJoins)
                ORDER BY page.date \(order), page.revision \(order)
                """
            let rows = try Row.fetchCursor(database.cachedStatement(sql: sql), arguments: choice.arguments)
            while page.items.count < limit, let row = try rows.next() {
                if choice.matches(row[2], row[3]) { page.items.append(try Self.item(row)) }
            }
            page.months = try Self.months(in: database)
            page.members = try database.rows(
                "SELECT uid, name FROM member WHERE disabled = 0 ORDER BY folded"
            ) { (uid: $0[0], name: $0[1]) }
            return page
        }
    }

    func galleryIndex(matching filter: GalleryFilter, newSince revision: Int64?) async throws -> GalleryIndex {
        let files = files
        return try await readFolder { folder, database in
            var index = GalleryIndex()
            index.revision = try Self.lastRevision(in: database)
            let search = SearchIndex(database: database, files: files)
            guard let choice = try GalleryChoiceSQL(filter, .older(than: .newest), folder, search) else { return index }
            let sql = """
                WITH page AS (\(choice.items) ORDER BY 1 DESC, 2 DESC LIMIT \(Self.mostIndexed))
                SELECT page.date, page.revision, page.latitude, page.longitude, page.kind IS NULL, page.pending,
                    m.width, m.height, v.node
                FROM page CROSS JOIN version v ON v.revision = page.revision \(Self.mediaJoin)
                ORDER BY page.date DESC, page.revision DESC
                """
            try database.forEachRow(sql, choice.arguments) { row in
                guard choice.matches(row[2], row[3]) else { return }
                let isNote: Bool = row[4]
                var ratio = 0
                if !isNote {
                    ratio =
                        row[5] ? GalleryIndex.unknown : GalleryIndex.ratio(width: row[6], height: row[7])
                }
                index.add(GalleryPlace(seconds: row[0], revision: row[1]), ratio: ratio)
                if let revision, row[8] as Int64 > revision {
                    if isNote { index.newNotes += 1 } else { index.newPhotos += 1 }
                }
            }
            return index
        }
    }

    func albums(limit: Int) async throws -> [Album] {
        try await query { database in
            // Of each folder, SQLite takes the other columns from the row with the newest date.
            let sql = """
                WITH page AS (
                    SELECT max(g.date) AS date, g.revision, l.key, g.kind, g.pending, g.latitude, g.longitude,
                        count(*) AS photos
                    FROM gallery_item g INDEXED BY gallery_photo CROSS JOIN latest l ON l.revision = g.revision
                    WHERE g.kind IS NOT NULL GROUP BY l.parent ORDER BY 1 DESC LIMIT ?)
                SELECT \(Self.itemColumns), page.photos FROM page \(Self.itemJoins)
                ORDER BY page.date DESC, page.revision DESC
                """
            return try database.rows(sql, [limit]) { row in
                let cover = try Self.item(row)
                return Album(
                    path: cover.entry.path.parent ?? .root, count: row[row.count - 1], cover: cover)
            }
        }
    }

    private static let mediaJoin = """
        LEFT JOIN media_info m ON m.hash = v.hash AND page.kind IS NOT NULL AND m.version = \(MediaInfo.version)
        """

    // Texts are read for the items of a page only.
    private static let itemJoins = """
        CROSS JOIN version v ON v.revision = page.revision \(mediaJoin)
        LEFT JOIN latest beside ON beside.key = page.key || '.md' AND page.kind IS NOT NULL
        LEFT JOIN version caption ON caption.revision = beside.revision AND caption.kind = 0
        LEFT JOIN content c ON c.hash = CASE WHEN page.kind IS NULL THEN v.hash ELSE caption.hash END
        """

    private static let itemColumns = """
        page.date, page.pending, page.latitude, page.longitude, substr(c.bytes, 1, \(GalleryItem.textLimit)),
        m.placeholder, \(shapeColumns), \(SQLiteFolderState.columns)
        """

    private static func item(_ row: Row) throws -> GalleryItem {
        GalleryItem(
            entry: try SQLiteFolderState.entry(row, at: 6 + shapeCount), date: APIDate(seconds: row[0]),
            shape: shape(row, at: 6), isPending: row[1], placeholder: row.bytes(5), text: row.bytes(4))
    }

    /// The number of the last change, as ``SQLiteFolderState/lastRevision(in:)`` finds it, in one statement.
    private static func lastRevision(in database: Database) throws -> Int64 {
        try database.firstRow(
            """
            SELECT max(coalesce((SELECT max(revision) FROM version), 0),
                coalesce((SELECT value FROM meta WHERE name = ?), 0))
            """, [Schema.Meta.forgotten]
        ) { $0[0] } ?? 0
    }

    private static func months(in database: Database) throws -> [APIDate] {
        try database.rows(
            """
            WITH RECURSIVE month(newest) AS (
                SELECT max(date) FROM gallery_item
                UNION ALL
                SELECT (SELECT max(date) FROM gallery_item
                    WHERE date < CAST(strftime('%s', newest, 'unixepoch', 'start of month') AS INTEGER))
                FROM month WHERE newest IS NOT NULL)
            SELECT newest FROM month WHERE newest IS NOT NULL LIMIT ?
            """, [mostMonths]
        ) { APIDate(seconds: $0[0]) }
    }
}

/// The query for the places and keys of the items that match a filter.
private struct GalleryChoiceSQL {
    /// The most entries that a search for words finds.
    private static let mostFound = 5000

    /// The query, without an order: date, revision, key, kind, pending, latitude and longitude.
    let items: String
    let arguments: StatementArguments
    /// Whether each row matches; else ``matches(_:_:)`` tells.
    let isExact: Bool
    private let near: GeographicCircle?

    /// Makes the query; nil when nothing can match.
    ///
    /// - Throws: As ``SharedFolder/existing(_:)`` when the filter's folder does not exist.
    init?(_ filter: GalleryFilter, _ side: GallerySide, _ folder: SharedFolder, _ index: SearchIndex) throws {
        let (comparison, place) =
            switch side {
            case .older(let place): ("<", place)
            case .newer(let place): (">", place)
            }
        var arguments: StatementArguments = ["date": place.seconds, "revision": place.revision]
        var conditions = ["(g.date, g.revision) \(comparison) (:date, :revision)"]
        var (table, joins) = ("gallery_item g CROSS JOIN latest l ON l.revision = g.revision", "")
        if filter.folder != .root {
            let range = try folder.existing(filter.folder).path.key.sortingBelow
            conditions.append("l.key > :after AND l.key < :before")
            arguments += ["after": range.after, "before": range.before]
        }
        if let since = filter.since {
            conditions.append("g.date >= :since")
            arguments += ["since": since.seconds]
        }
        if let until = filter.until {
            conditions.append("g.date < :until")
            arguments += ["until": until.seconds]
        }
        if let author = filter.author {
            joins += " CROSS JOIN version a ON a.revision = g.revision"
            conditions.append("a.author = :author")
            arguments += ["author": author]
        }
        if let words = filter.words {
            let keys = try Self.keys(words, below: filter.folder, folder, index)
            if keys.isEmpty { return nil }
            table = """
                json_each(:keys) k CROSS JOIN latest l ON l.key = k.value
                CROSS JOIN gallery_item g ON g.revision = l.revision
                """
            var list = JSONText()
            list.array { list in for key in keys { list.value(key.sorting) } }
            arguments += ["keys": String(decoding: list.bytes, as: UTF8.self)]
        }
        var choices: [String]
        switch filter.content {
        case .all: choices = [Self.noCaption]
        case .notes: choices = ["g.kind IS NULL AND \(Self.noCaption)"]
        case .photos: choices = ["g.kind IS NOT NULL"]
        case .panoramas:
            // One after the other in the order of the index, which SQLite merges; of a list of kinds it would sort all.
            let kinds = PhotoShape.Kind.panoramas.map(\.rawValue).sorted()
            choices = kinds.indices.map { "g.kind = :kind\($0)" }
            for (index, kind) in kinds.enumerated() { arguments += ["kind\(index)": kind] }
        }
        if let near = filter.near {
            if filter.words == nil { table.replace("gallery_item g", with: "gallery_item g INDEXED BY gallery_place") }
            arguments += ["south": near.latitudes.lowerBound, "north": near.latitudes.upperBound]
            choices = near.longitudes.enumerated().flatMap { number, range in
                arguments += ["west\(number)": range.lowerBound, "east\(number)": range.upperBound]
                return choices.map {
                    """
                    g.latitude BETWEEN :south AND :north AND g.longitude BETWEEN :west\(number) AND :east\(number)
                    AND \($0)
                    """
                }
            }
        }
        let common = conditions.joined(separator: " AND ")
        items = choices.map { choice in
            """
            SELECT g.date, g.revision, l.key, g.kind, g.pending, g.latitude, g.longitude
            FROM \(table)\(joins) WHERE \(common) AND \(choice)
            """
        }.joined(separator: " UNION ALL ")
        self.arguments = arguments
        near = filter.near
        isExact = filter.near == nil
    }

    /// Whether the item at a place matches.
    func matches(_ latitude: Double?, _ longitude: Double?) -> Bool {
        guard let near else { return true }
        guard let latitude, let longitude else { return false }
        return near.contains(MediaInfo.Place(latitude: latitude, longitude: longitude))
    }

    private static let noCaption = """
        NOT (substr(l.key, -3) = '.md' AND EXISTS (
            SELECT 1 FROM latest p JOIN gallery_item h ON h.revision = p.revision
            WHERE p.key = substr(l.key, 1, length(l.key) - 3) AND h.kind IS NOT NULL))
        """

    /// The keys of entries whose names or texts have some words, and of the photos of captions among them.
    private static func keys(
        _ words: TextQuery, below path: RemotePath, _ folder: SharedFolder, _ index: SearchIndex
    ) throws -> Set<PathKey> {
        var search = TextSearch(
            query: words, folder: path.key, includeDeleted: false, limit: mostFound, index: index)
        try search.find()
        let keys = search.found.flatMap { match -> [PathKey] in
            let path = match.entry.path
            let photo = GalleryKind.isCaption(path.name) ? [PathKey(folded: String(path.key.string.dropLast(3)))] : []
            return [path.key] + photo
        }
        return Set(keys)
    }
}
