import ByteClubCore
import GRDB
import Glibc
import Logging

/// Checks a data directory against itself: every content's hash, the tree, the journal, the counters, the uploads.
///
/// It works while a server runs: rows are compared within one snapshot, and contents stay where they are for as long as
/// the verifier shares their lock. Contents are hashed several at a time and in pieces, each once.
struct Verifier: Sendable {
    let directory: String
    let pool: DatabasePool
    private let contents: Descriptor?

    /// Opens a data directory and changes nothing in it.
    ///
    /// - Throws: ``StorageError`` `missing` when there is none, `damaged` when it cannot be read at all.
    init(directory: String) throws {
        guard Directory.fileLength(directory + "/" + SQLiteStore.databaseName) != nil else {
            throw StorageError(.missing, "no club in '\(directory)'")
        }
        self.directory = directory
        contents = try SQLiteStore.shareContents(directory)
        do {
            pool = try SQLiteStore.openToRead(directory, Self.configuration)
            let version = try pool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
            guard version == Schema.version else {
                throw StorageError(
                    .damaged,
                    "the data directory is of version \(version), and this program checks version \(Schema.version); "
                        + "serve it once with this program")
            }
        } catch {
            throw StorageError.translating(error)
        }
    }

    /// How much is checked.
    enum Extent: Sendable {
        /// All that is there.
        case everything
        /// What a copy needs to be restored, which is all but the search index; a file that an earlier copy has too was
        /// hashed with that one.
        case copy(after: String?)
    }

    /// Checks everything, or what a copy needs.
    func run(_ extent: Extent = .everything) async throws -> VerificationReport {
        do {
            var report = try await pool.read { database in
                var report = VerificationReport()
                let problems = try String.fetchAll(database, sql: "PRAGMA integrity_check(100)").filter { $0 != "ok" }
                report.findings = problems.map {
                    Finding(kind: .database, subject: SQLiteStore.databaseName, problem: $0)
                }
                // Rows that cannot be read prove nothing about the rest.
                if !problems.isEmpty { return report }
                report.versions = try Int.fetchOne(database, sql: "SELECT count(*) FROM version") ?? 0
                report.findings += try journalFindings(in: database)
                report.findings += try treeFindings(in: database)
                report.findings += try counterFindings(in: database)
                report.findings += try uploadFindings(in: database)
                if case .everything = extent { report.findings += try indexFindings(in: database) }
                return report
            }
            guard report.isClean || report.findings.allSatisfy({ $0.kind != .database }) else { return report }
            try await checkContents(&report, extent)
            return report
        } catch {
            throw StorageError.translating(error)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 4
        configuration.label = "byteclub.verify"
        return configuration
    }

    /// A version as people find it again.
    static func name(_ path: String, _ revision: Int64) -> String {
        "\(path) (rev \(JournalRevision(number: revision)))"
    }
}
