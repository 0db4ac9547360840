import ByteClubCore
import FoundationEssentials
import GRDB

/// A change of the disk that is about to happen, so that a restart can tell what is in staging and trash.
struct Intent: Hashable, Sendable {
    enum Verb: String, Sendable {
        /// New content changes places with what is at the path; that then stands in staging.
        case replace
        /// What is at the path goes into the trash; `stage` is its place there.
        case discard
    }

    let op: String
    let verb: Verb
    /// The path on disk.
    let path: String
    /// The name in staging, or the path in the trash.
    let stage: String
    /// The content that the plan saw at the path.
    let expected: ContentHash?
    /// The content that is to be there.
    let target: ContentHash?
}

/// Why one path is left alone for now.
struct Problem: Hashable, Sendable {
    /// Where it was found; a scan of a folder replaces the problems that scanning found in it.
    enum Source: Int64, Sendable {
        case scan = 0
        case transfer = 1
    }

    /// The path on disk, as people may read it.
    let path: String
    /// The entry that is frozen, with all below it; nil when no entry is.
    let key: PathKey?
    let message: String
    let source: Source
}

extension MirrorStore {
    static func add(_ db: Database, _ intents: [Intent]) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO intent(op, verb, path, stage, expected, target) VALUES(?, ?, ?, ?, ?, ?)")
        for intent in intents {
            try statement.execute(arguments: [
                intent.op, intent.verb.rawValue, intent.path, intent.stage,
                intent.expected.map { Data($0.bytes) }, intent.target.map { Data($0.bytes) },
            ])
        }
    }

    static func removeIntents(_ db: Database, _ ops: [String]) throws {
        let statement = try db.cachedStatement(sql: "DELETE FROM intent WHERE op = ?")
        for op in ops { try statement.execute(arguments: [op]) }
    }

    func intents() throws -> [Intent] {
        try reading { db in
            try Row.fetchAll(db, sql: "SELECT op, verb, path, stage, expected, target FROM intent ORDER BY op")
                .compactMap { row in
                    guard let verb = Intent.Verb(rawValue: row[1] as String? ?? "") else { return nil }
                    let hash = { (index: Int) in (row[index] as Data?).flatMap { ContentHash(bytes: Array($0)) } }
                    return Intent(
                        op: row[0] as String? ?? "", verb: verb, path: row[2] as String? ?? "",
                        stage: row[3] as String? ?? "", expected: hash(4), target: hash(5))
                }
        }
    }

    /// The problems by the folder in which they are.
    func problems() throws -> [PathKey: [Problem]] {
        try reading { db in
            var result: [PathKey: [Problem]] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT parent, path, key, message, source FROM problem") {
                let problem = Problem(
                    path: row[1] as String? ?? "", key: (row[2] as String?).map { PathKey(folded: $0) },
                    message: row[3] as String? ?? "", source: Problem.Source(rawValue: row[4] as Int64? ?? 0) ?? .scan)
                result[PathKey(folded: row[0] as String? ?? "/"), default: []].append(problem)
            }
            return result
        }
    }

    /// Replaces all problems of one folder.
    static func setProblems(_ db: Database, _ problems: [Problem], in parent: PathKey) throws {
        try db.cachedStatement(sql: "DELETE FROM problem WHERE parent = ?").execute(arguments: [parent.string])
        let statement = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO problem(parent, path, key, message, source) VALUES(?, ?, ?, ?, ?)")
        for problem in problems {
            try statement.execute(arguments: [
                parent.string, problem.path, problem.key?.string, problem.message, problem.source.rawValue,
            ])
        }
    }

    /// Replaces the deletions that the guard holds; `side` is where they would be carried out.
    static func setHeld(_ db: Database, _ held: [(path: String, side: String)]) throws {
        try db.execute(sql: "DELETE FROM held")
        let statement = try db.cachedStatement(sql: "INSERT OR REPLACE INTO held(path, side) VALUES(?, ?)")
        for deletion in held { try statement.execute(arguments: [deletion.path, deletion.side]) }
    }

    static func addConflict(_ db: Database, copy: String, of path: String, at now: Int64) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO conflict(copy, path, at) VALUES(?, ?, ?)")
            .execute(arguments: [copy, path, now / 1_000_000_000])
    }
}
