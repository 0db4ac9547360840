import ByteClubCore
import GRDB
import Glibc

extension Verifier {
    /// Checks that each version is well formed, and in the history of its path exactly once.
    func journalFindings(in database: Database) throws -> [Finding] {
        var findings: [Finding] = []
        try database.forEachRow(
            """
            SELECT v.revision, v.path, v.kind, v.bytes, length(v.hash), v.previous, p.path
            FROM version v LEFT JOIN version p ON p.revision = v.previous ORDER BY v.revision
            """
        ) { row in
            let (revision, text, kind): (Int64, String, Int) = (row[0], row[1], row[2])
            func report(_ problem: String) {
                findings.append(Finding(.journal, Self.name(text, revision), problem))
            }
            guard let path = try? RemotePath(text), path.string == text else {
                return report("the path is invalid")
            }
            let (bytes, hash, previous): (Int64, Int?, Int64) = (row[3], row[4], row[5])
            if kind == 0 ? hash != ContentHash.byteCount || bytes < 0 : hash != nil || bytes != 0 {
                report("kind \(kind) with \(bytes) bytes and a hash of \(hash ?? 0) bytes")
            }
            if previous >= revision { report("it replaced the later change \(previous)") }
            let replaced: String? = row[6]
            if previous > 0, replaced == nil { report("it replaced the change \(previous), which is missing") }
            if let replaced, (try? RemotePath(replaced))?.key != path.key { report("it replaced '\(replaced)'") }
            let newest = try database.firstRow(
                "SELECT revision FROM latest WHERE key = ?", [path.key.sorting]
            ) { $0[0] as Int64 }
            if newest == nil { report("the tree does not know the path") }
            if let newest, newest < revision { report("the tree has the older change \(newest)") }
        }
        return try findings + chainFindings(in: database)
    }

    /// Each version is the newest at its path, or was replaced by exactly one other.
    private func chainFindings(in database: Database) throws -> [Finding] {
        let isWhole = try database.firstRow(
            """
            SELECT (SELECT count(*) FROM version) =
                (SELECT count(*) FROM latest) + (SELECT count(DISTINCT previous) FROM version WHERE previous > 0)
                AND (SELECT count(DISTINCT previous) = count(*) FROM version WHERE previous > 0)
            """
        ) { $0[0] as Bool }
        if isWhole == true { return [] }
        let twice = try database.rows(
            """
            SELECT v.path, v.revision, count(*) FROM version v JOIN version n ON n.previous = v.revision
            GROUP BY v.revision HAVING count(*) > 1
            """
        ) { Finding(.journal, Self.name($0[0], $0[1]), "\($0[2] as Int) changes replaced it") }
        let never = try database.rows(
            """
            SELECT path, revision FROM version WHERE revision NOT IN (SELECT previous FROM version)
            AND revision NOT IN (SELECT revision FROM latest)
            """
        ) { Finding(.journal, Self.name($0[0], $0[1]), "it is in no path's history") }
        return twice + never
    }

    /// Checks that the tree's rows name versions of their own paths, and that live entries have live folders above
    /// them.
    func treeFindings(in database: Database) throws -> [Finding] {
        var findings: [Finding] = []
        try database.forEachRow(
            """
            SELECT l.key, l.parent, l.revision, v.path, v.kind, pv.kind
            FROM latest l LEFT JOIN version v ON v.revision = l.revision
            LEFT JOIN latest p ON p.key = l.parent LEFT JOIN version pv ON pv.revision = p.revision
            """
        ) { row in
            let (key, parent, revision): (String, String, Int64) = (row[0], row[1], row[2])
            guard let text = row[3] as String? else {
                let shown = key.replacing("\u{1}", with: "/")
                return findings.append(Finding(.tree, shown, "its change \(revision) is missing from the journal"))
            }
            func report(_ problem: String) {
                findings.append(Finding(.tree, Self.name(text, revision), problem))
            }
            guard let path = try? RemotePath(text) else { return }
            if path.key.sorting != key { report("the tree has it under another path") }
            if (path.key.parent?.sorting ?? "") != parent { report("the tree has it in another folder") }
            let isLive = (row[4] as Int) < 2
            let parentKind: Int? = row[5]
            if isLive, parent != "", parentKind != 1 {
                report(parentKind == nil ? "there is no folder above it" : "what is above it is not an existing folder")
            }
        }
        return findings
    }

    /// Checks the sums of the live entries and of their bytes.
    func counterFindings(in database: Database) throws -> [Finding] {
        let sums = try database.rows(
            """
            SELECT v.author, sum(v.bytes), count(*) FROM latest l JOIN version v ON v.revision = l.revision
            WHERE v.kind < 2 GROUP BY v.author
            """
        ) { ($0[0] as Int64, Usage(bytes: $0[1], entries: $0[2])) }
        let kept = try database.rows("SELECT member, bytes, entries FROM member_usage") {
            ($0[0] as Int64, Usage(bytes: $0[1], entries: $0[2]))
        }
        let (live, counted) = (Dictionary(uniqueKeysWithValues: sums), Dictionary(uniqueKeysWithValues: kept))
        let club = live.values.reduce(into: Usage(), +=)
        var findings = Self.difference(try UsageLedger(database: database).club(), club, "")
        for member in Set(live.keys).union(counted.keys).sorted() {
            findings += Self.difference(
                counted[member] ?? Usage(), live[member] ?? Usage(), " by member \(member)")
        }
        return try findings + nodeFindings(in: database) + listingFindings(in: database)
    }

    private static func difference(_ counted: Usage, _ live: Usage, _ whose: String) -> [Finding] {
        let sums = [
            (Schema.Meta.used, counted.bytes, live.bytes, " bytes"),
            (Schema.Meta.entries, counted.entries, live.entries, ""),
        ]
        return sums.filter { $0.1 != $0.2 }.map { name, counted, live, unit in
            Finding(.counter, name + whose, "counted \(counted)\(unit), there are \(live)")
        }
    }

    /// Checks that each entry that moves keep together has a newest version.
    private func nodeFindings(in database: Database) throws -> [Finding] {
        let lost = try database.rows(
            """
            SELECT n.id, n.revision, v.node FROM node n LEFT JOIN version v ON v.revision = n.revision
            WHERE v.node IS NULL OR v.node != n.id
            """
        ) { row in
            Finding(
                .tree, "entry \(row[0] as Int64)",
                (row[2] as Int64?) == nil
                    ? "its change \(row[1] as Int64) is missing from the journal"
                    : "its change \(row[1] as Int64) is of another entry")
        }
        let unknown = try database.rows(
            """
            SELECT v.path, v.revision, coalesce(n.revision, 0) FROM version v LEFT JOIN node n ON n.id = v.node
            WHERE n.revision IS NULL OR n.revision < v.revision
            """
        ) { Finding(.tree, Self.name($0[0], $0[1]), "its entry's newest change is \($0[2] as Int64)") }
        return lost + unknown
    }

    /// Checks that each folder knows of the newest change among its children.
    private func listingFindings(in database: Database) throws -> [Finding] {
        try database.rows(
            """
            SELECT l.parent, max(l.revision), coalesce(g.newest, 0) FROM latest l LEFT JOIN listing g ON g.folder = l.parent
            GROUP BY l.parent HAVING max(l.revision) > coalesce(g.newest, 0)
            """
        ) { row in
            let folder = (row[0] as String).replacing("\u{1}", with: "/")
            let (there, known): (Int64, Int64) = (row[1], row[2])
            return Finding(
                .counter, "listing of \(folder.isEmpty ? "/" : folder)",
                "the newest change is \(known), there is \(there)")
        }
    }

    /// Checks that the file of each upload under way has at least the bytes that were acknowledged.
    func uploadFindings(in database: Database) throws -> [Finding] {
        try database.rows(
            """
            SELECT u.id, u.size, (SELECT count(*) FROM upload_block b WHERE b.upload = u.id)
            FROM upload u WHERE completed = 0
            """
        ) { row -> [Finding] in
            let (id, size, blocks): (String, Int64, Int64) = (row[0], row[1], row[2])
            let length = Directory.fileLength(directory + "/staging/upload-" + id)
            var problems: [String] = []
            if length == nil { problems.append("its file is missing") }
            if let length, length < size { problems.append("\(size) bytes were acknowledged, its file has \(length)") }
            if blocks != size / Int64(ContentHash.blockSize) {
                problems.append("\(size) bytes were acknowledged, \(blocks) blocks have hashes")
            }
            return problems.map { Finding(.upload, id, $0) }
        }.flatMap(\.self)
    }
}
