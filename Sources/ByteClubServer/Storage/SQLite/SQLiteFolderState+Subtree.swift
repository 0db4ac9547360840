import ByteClubCore
import GRDB

/// Changes of whole folders, each in a handful of statements for every so many entries below.
extension SQLiteFolderState {
    private static let live = "\(tree) WHERE l.key >= :key AND l.key < :end AND \(isLive)"

    /// How many entries one statement changes; SQLite keeps them in memory meanwhile.
    private static let piece = 20_000

    private static let selectSummary = """
        SELECT count(*), coalesce(max(length(CAST(v.path AS BLOB))), 0), coalesce(max(v.revision), 0),
            coalesce(max(max(v.content_revision, v.place_revision)), 0)
        \(tree) WHERE l.key > ? AND l.key < ? AND \(isLive)
        """
    private static let selectFirstChanged = """
        SELECT \(columns) \(tree) WHERE l.key > ? AND l.key < ? AND \(isLive)
            AND max(v.content_revision, v.place_revision) > ? ORDER BY l.key LIMIT 1
        """
    /// A path whose beginning is not the folder's path, letter by letter.
    private static let selectOther = """
        SELECT 1 \(live) AND l.key > :key AND substr(v.path, 1, :length + 1) != :path || '/' LIMIT 1
        """
    private static let insertTombstones = """
        INSERT INTO version(\(stored))
        SELECT :last + row_number() OVER (ORDER BY l.key), v.revision, v.path, v.kind + 2, 0, NULL, :now, :author,
            v.node, v.parent, :last + row_number() OVER (ORDER BY l.key), v.place_revision, NULL, NULL
        \(live) AND l.key > :done ORDER BY l.key LIMIT \(piece)
        """
    /// Where the key stays, the new versions follow the live ones.
    private static let insertRenamed = """
        INSERT INTO version(\(stored))
        SELECT :last + row_number() OVER (ORDER BY l.key), v.revision, :newPath || substr(v.path, :length + 1), v.kind,
            v.bytes, v.hash, :now, :author, v.node, v.parent, v.content_revision,
            CASE l.key WHEN :key THEN :last + 1 ELSE v.place_revision END, v.client_modified, v.executable
        \(live) AND l.key > :done ORDER BY l.key LIMIT \(piece)
        """
    /// Otherwise the new tombstones determine the versions at the new place.
    private static let insertMoved = """
        INSERT INTO version(\(stored))
        SELECT t.revision + :shift, coalesce(other.revision, 0), :newPath || substr(v.path, :length + 1), v.kind,
            v.bytes, v.hash, :now, :author, v.node, CASE l.key WHEN :key THEN :newParent ELSE v.parent END,
            v.content_revision, CASE l.key WHEN :key THEN t.revision + :shift ELSE v.place_revision END,
            v.client_modified, v.executable
        FROM version t JOIN version v ON v.revision = t.previous JOIN latest l ON l.revision = t.revision
            LEFT JOIN latest other ON other.key = :newKey || substr(l.key, length(:key) + 1)
        WHERE t.revision > :last AND t.revision <= :last + :count
        """
    private static let updateLatest = """
        UPDATE latest SET revision = t.revision FROM version t
        WHERE t.revision > :last AND t.revision <= :last + :count AND latest.revision = t.previous
        """
    private static let insertLatest = """
        INSERT INTO latest(key, parent, revision)
        SELECT :newKey || substr(l.key, length(:key) + 1),
            CASE l.key WHEN :key THEN :newParentKey ELSE :newKey || substr(l.parent, length(:key) + 1) END,
            t.revision + :shift
        FROM version t JOIN latest l ON l.revision = t.revision
        WHERE t.revision > :last AND t.revision <= :last + :count
        ON CONFLICT(key) DO UPDATE SET revision = excluded.revision
        """
    private static let updateNodes = """
        UPDATE node SET revision = v.revision FROM version v
        WHERE v.revision > :last AND v.revision <= :last + :count AND node.id = v.node
        """
    /// The listings in the folder; the end of the transaction notes that of the folder above.
    private static let noteListings = """
        INSERT INTO listing(folder, newest)
        SELECT parent, max(revision) FROM latest INDEXED BY latest_parent WHERE parent >= :key AND parent < :end
        GROUP BY parent
        ON CONFLICT(folder) DO UPDATE SET newest = max(newest, excluded.newest)
        """
    private static let selectReplaced = """
        SELECT v.author, sum(v.bytes), count(*) FROM version t JOIN version v ON v.revision = t.previous
        WHERE t.revision > :last AND t.revision <= :last + :count AND \(isLive) GROUP BY v.author
        """

    func summary(below key: PathKey) throws -> SubtreeSummary {
        let range = key.sortingBelow
        return try database.firstRow(Self.selectSummary, [range.after, range.before]) { row in
            var summary = SubtreeSummary()
            (summary.count, summary.longestPath, summary.newest, summary.newestChange) = (
                row[0], row[1], row[2], row[3]
            )
            return summary
        } ?? SubtreeSummary()
    }

    func firstChanged(below key: PathKey, after revision: Int64) throws -> FolderEntry? {
        let range = key.sortingBelow
        return try database.firstRow(Self.selectFirstChanged, [range.after, range.before, revision], Self.entry)
    }

    mutating func record(_ change: SubtreeChange) throws {
        guard let transaction else { throw Self.readOnly }
        try transaction.beginChange()
        let (path, key) = (change.source.path, change.source.path.key)
        let place: StatementArguments = ["key": key.sorting, "end": key.sortingBelow.before]
        let prefix: StatementArguments = ["length": path.string.unicodeScalars.count]
        if try database.hasRow(Self.selectOther, place + prefix + ["path": path.string]) {
            let below = try descendants(key, limit: .max)
            for version in change.versions(below: below, after: transaction.lastRevision) { try record(version) }
            return
        }
        let last = transaction.lastRevision
        let count = try changePlaces(change, place + prefix, after: last)
        let made: StatementArguments = ["last": last, "count": count]
        var usage = UsageChange()
        let replaced = try database.rows(Self.selectReplaced, made) {
            (author: $0[0] as Int64, usage: Usage(bytes: $0[1], entries: $0[2]))
        }
        for member in replaced {
            usage.remove(member.usage, of: member.author)
            if change.target != nil { usage.add(member.usage, of: change.author) }
        }
        if let target = change.target, change.leavesTombstones {
            try bringBack(change, as: target, prefix, count: count, after: last)
            let there = target.path.key
            try database.run(Self.noteListings, ["key": there.sorting, "end": there.sortingBelow.before])
        }
        try database.run(Self.noteListings, place)
        transaction.recorded(change, count: count, usage: usage)
    }

    /// Makes tombstones at the old place, or renames the entries, and returns their number.
    private func changePlaces(
        _ change: SubtreeChange, _ place: StatementArguments, after last: Int64
    ) throws -> Int {
        var (count, done) = (0, "")
        while true {
            let position = last + Int64(count)
            let stamp: StatementArguments = [
                "last": position, "now": change.now.seconds, "author": change.author, "done": done,
            ]
            if let target = change.target, !change.leavesTombstones {
                try database.run(Self.insertRenamed, stamp + place + ["newPath": target.path.string])
            } else {
                try database.run(Self.insertTombstones, stamp + place)
            }
            let piece = database.changesCount
            let made: StatementArguments = ["last": position, "count": piece]
            try database.run(Self.updateLatest, made)
            if change.target == nil || !change.leavesTombstones { try database.run(Self.updateNodes, made) }
            count += piece
            guard piece == Self.piece else { return count }
            done =
                try database.firstRow("SELECT key FROM latest WHERE revision = ?", [last + Int64(count)]) { $0[0] }
                ?? done
        }
    }

    /// Makes versions at the new place for the tombstones that were just made.
    private func bringBack(
        _ change: SubtreeChange, as target: FolderEntry, _ prefix: StatementArguments, count: Int, after last: Int64
    ) throws {
        let moved: StatementArguments = [
            "key": change.source.path.key.sorting, "newKey": target.path.key.sorting, "shift": count,
        ]
        for start in stride(from: 0, to: count, by: Self.piece) {
            let position = last + Int64(start)
            let made: StatementArguments = ["last": position, "count": min(Self.piece, count - start)]
            try database.run(
                Self.insertMoved,
                made + prefix + moved + [
                    "now": change.now.seconds, "author": change.author, "newPath": target.path.string,
                    "newParent": target.parent.number,
                ])
            try database.run(
                Self.insertLatest, made + moved + ["newParentKey": target.path.key.parent?.sorting ?? ""])
            try database.run(
                Self.updateNodes, ["last": position + Int64(count), "count": min(Self.piece, count - start)])
        }
    }
}
