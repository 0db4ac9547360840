import ByteClubCore
import ByteClubFiles
import FoundationEssentials
import GRDB
import Glibc

extension Verifier {
    private static let piece = 256 << 10
    private static let page = 2000

    /// The findings in a part of the contents.
    private typealias Part = VerificationReport

    /// Hashes all contents, and looks for the content of each version.
    ///
    /// Contents come before the versions that are looked at: what a running server adds meanwhile is in its place
    /// before its version is.
    func checkContents(_ report: inout VerificationReport, _ extent: Extent) async throws {
        var total = Part()
        let earlier: String? = if case .copy(let earlier) = extent { earlier } else { nil }
        let folders = try blobFolders()
        // Twice the processors: one hashes while another waits for the disk.
        let width = max(2, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) * 2)
        let bounds = (0...16).map { $0 == 16 ? [] : [UInt8($0 * 16)] }
        try await withThrowingTaskGroup(of: Part.self) { group in
            var jobs: [@Sendable () throws -> Part] = folders.map { folder in
                { try checkFiles(folder, besides: earlier) }
            }
            for index in 0..<16 {
                jobs.append { [pool] in try Self.checkRows(pool, from: bounds[index], to: bounds[index + 1]) }
            }
            var running = 0
            while !jobs.isEmpty || running > 0 {
                while running < width, let job = jobs.popLast() {
                    group.addTask { try await ContentPipeline.onDisk(job) }
                    running += 1
                }
                guard let part = try await group.next() else { break }
                running -= 1
                total.add(part)
            }
        }
        (report.contents, report.bytes) = (total.contents, total.bytes)
        report.findings += try await naming(total.findings)
        report.findings += try await referenceFindings()
        report.findings += try await orphanFindings()
    }

    /// The most damaged contents whose versions are reported.
    private static let mostNamed = 100

    /// Adds to damaged contents the version that has each, the newest of several, and its author: one pass over the
    /// journal.
    private func naming(_ findings: [Finding]) async throws -> [Finding] {
        let hashes = findings.filter { $0.kind == .content }.prefix(Self.mostNamed).compactMap {
            ContentHash($0.subject)?.data
        }
        if hashes.isEmpty { return findings }
        let places = hashes.map { _ in "?" }.joined(separator: ", ")
        let versions = try await pool.read { database in
            try database.rows(
                """
                SELECT v.path, v.revision, m.name, v.hash FROM version v LEFT JOIN member m ON m.uid = v.author
                WHERE v.hash IN (\(places)) ORDER BY v.revision
                """, StatementArguments(hashes)
            ) { (name: Self.name($0[0], $0[1]), member: $0[2] as String?, hash: $0.bytes(3) ?? []) }
        }
        var uses: [String: [String]] = [:]
        for version in versions {
            let use = version.name + (version.member.map { " by \($0)" } ?? "")
            uses[Hexadecimal.encode(version.hash), default: []].append(use)
        }
        return findings.map { finding in
            guard finding.kind == .content, let versions = uses[finding.subject], let newest = versions.last else {
                return finding
            }
            let others = versions.count > 1 ? " and \(versions.count - 1) more" : ""
            return Finding(.content, finding.subject, "\(finding.problem); it is the content of \(newest)\(others)")
        }
    }

    private func blobFolders() throws -> [String] {
        let root = directory + "/blobs"
        guard unsafe access(root, F_OK) == 0 else { return [] }
        return try Directory.names(in: root).sorted()
    }

    private static func checkRows(_ pool: DatabasePool, from first: [UInt8], to end: [UInt8]) throws -> Part {
        var part = Part()
        var last: Data? = Data(first)
        var comparison = ">="
        while let after = last {
            let isBounded = end.isEmpty ? "" : "AND hash < ?"
            let rows = try pool.read { database in
                try database.rows(
                    "SELECT hash, bytes FROM content WHERE hash \(comparison) ? \(isBounded) ORDER BY hash LIMIT 200",
                    [after] + (end.isEmpty ? [] : [Data(end)])
                ) { ($0[0] as Data, $0.bytes(1) ?? []) }
            }
            comparison = ">"
            last = rows.last?.0
            for (hash, bytes) in rows {
                part.contents += 1
                part.bytes += Int64(bytes.count)
                let found = ContentHasher.hash(bytes)
                if found.data != hash {
                    part.findings.append(
                        Finding(
                            .content, Hexadecimal.encode(Array(hash)),
                            "the \(bytes.count) bytes in the database have the hash \(found)"))
                }
            }
        }
        return part
    }

    /// Checks the contents in the files of a folder, but for those that are the same file in an earlier copy.
    private func checkFiles(_ folder: String, besides earlier: String?) throws -> Part {
        var part = Part()
        for name in try Directory.names(in: directory + "/blobs/" + folder) {
            let place = "/blobs/" + folder + "/" + name
            let path = directory + place
            if let earlier, Directory.isSame(path, earlier + place) { continue }
            guard let hash = ContentHash(folder + name), hash.description == folder + name else {
                part.findings.append(Finding(.orphan, path, "it is not a content file"))
                continue
            }
            do {
                let (found, length) = try Self.hash(path)
                part.contents += 1
                part.bytes += length
                if found != hash {
                    part.findings.append(
                        Finding(
                            .content, hash.description, "the \(length) bytes of '\(path)' have the hash \(found)"))
                }
            } catch let error as StorageError {
                part.findings.append(Finding(.content, hash.description, error.message))
            }
        }
        return part
    }

    private static func hash(_ path: String) throws -> (ContentHash, Int64) {
        let file = try Descriptor(path: path, flags: O_RDONLY)
        var hasher = ContentHasher()
        var offset: Int64 = 0
        while case let bytes = try file.read(Verifier.piece, at: offset), !bytes.isEmpty {
            hasher.update(bytes)
            offset += Int64(bytes.count)
        }
        return (hasher.finalize(), offset)
    }

    /// Looks for the content of each version, and compares its length.
    private func referenceFindings() async throws -> [Finding] {
        var findings: [Finding] = []
        var last: Int64 = 0
        while true {
            let after = last
            let page = try await pool.read { [directory] database in
                try database.rows(
                    """
                    SELECT v.revision, v.path, v.bytes, v.hash, length(c.bytes) FROM version v
                    LEFT JOIN content c ON c.hash = v.hash WHERE v.kind = 0 AND v.revision > ?
                    ORDER BY v.revision LIMIT \(Self.page)
                    """, [after]
                ) { row in
                    (
                        row[0] as Int64,
                        Self.problem(row, directory).map { Finding(.reference, Self.name(row[1], row[0]), $0) }
                    )
                }
            }
            guard let end = page.last else { return findings }
            findings += page.compactMap(\.1)
            last = end.0
        }
    }

    private static func problem(_ row: Row, _ directory: String) -> String? {
        guard let hash = row.hash(3) else { return nil }
        let bytes: Int64 = row[2]
        let isSmall = bytes <= Int64(StagedContent.inlineLimit)
        let name = hash.description
        let found: Int64? =
            isSmall ? row[4] : Directory.fileLength(directory + "/blobs/\(name.prefix(2))/\(name.dropFirst(2))")
        guard let found else { return "its content \(hash) is missing" }
        return found == bytes ? nil : "its content \(hash) has \(found) bytes and should have \(bytes)"
    }

    /// Reports unreferenced contents.
    private func orphanFindings() async throws -> [Finding] {
        let use = try await pool.read { try ContentUse(in: $0) }
        let rows = try await pool.read { database in
            var unused: [[UInt8]] = []
            try database.forEachRow("SELECT hash FROM content ORDER BY hash") { row in
                if let hash = row.bytes(0), !use.contains(hash) { unused.append(hash) }
            }
            return try use.stillUnused(unused, in: database)
        }
        let files = try blobFolders().flatMap { folder -> [[UInt8]] in
            let names = try Directory.names(in: directory + "/blobs/" + folder)
            return names.compactMap { ContentHash(folder + $0)?.bytes }.filter { !use.contains($0) }
        }
        let unused = try await pool.read { try use.stillUnused(files, in: $0) }
        return rows.map { Finding(.orphan, Hexadecimal.encode($0), "an unreferenced row") }
            + unused.map { Finding(.orphan, Hexadecimal.encode($0), "an unreferenced file") }
    }
}
