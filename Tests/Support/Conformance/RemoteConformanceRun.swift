import ByteClubCore
import Testing

/// The two members of a case, its folder, and what cases do again and again.
struct RemoteConformanceRun: Sendable {
    let remote: any Remote
    let second: any Remote
    private let folder: String

    init(name: String, remote: any Remote, second: any Remote) {
        self.remote = remote
        self.second = second
        folder = "/conformance " + String(ContentHasher.hash(Array(name.utf8)).description.prefix(12))
    }

    /// A path in the case's folder; empty for the folder itself.
    func path(_ name: String = "") throws -> RemotePath { try RemotePath(folder + "/" + name) }

    @discardableResult
    func put(
        _ text: String, _ name: String, _ condition: WriteCondition = .overwrite, _ policy: ConflictPolicy = .rename,
        by member: (any Remote)? = nil
    ) async throws -> Metadata {
        try await (member ?? remote).put(
            .bytes(Array(text.utf8)), at: path(name), condition: condition, policy: policy, progress: nil)
    }

    func text(_ name: String, revision: Revision? = nil) async throws -> String {
        let found = try await remote.content(at: path(name), revision: revision, range: nil, limit: 1 << 20)
        return String(decoding: found.bytes, as: UTF8.self)
    }

    func names(_ name: String = "") async throws -> [String] {
        let listed = try #require(try await remote.list(path(name), unless: nil, includeDeleted: false))
        return try #require(listed.contents).map(\.path.name)
    }

    /// Expects another version, and a later one where the remote's versions are ordered.
    func expectLater(
        _ new: Metadata, than old: Metadata, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (earlier, later) = (try #require(old.rev), try #require(new.rev))
        #expect(earlier != later, sourceLocation: sourceLocation)
        guard try await remote.powers().orderedRevisions else { return }
        #expect(
            try #require(JournalRevision(earlier)) < #require(JournalRevision(later)), sourceLocation: sourceLocation)
    }

    /// Follows pages to their end.
    func drain(
        after cursor: String?, prefix: RemotePath, of member: (any Remote)? = nil
    ) async throws -> (entries: [DeltaEntry], cursor: String, reset: Bool) {
        var entries: [DeltaEntry] = []
        var (cursor, reset) = (cursor, false)
        for number in 0... {
            let page = try await (member ?? remote).delta(after: cursor, prefix: prefix)
            if page.reset {
                #expect(number == 0, "only the first page resets")
                reset = true
            }
            entries += page.entries
            cursor = page.cursor
            if !page.hasMore { break }
            #expect(!page.entries.isEmpty, "a page before the last holds something")
        }
        return (entries, try #require(cursor), reset)
    }

    /// Expects a failure of one kind.
    func refused<Value>(
        _ code: RemoteError.Code, sourceLocation: SourceLocation = #_sourceLocation,
        _ work: () async throws -> Value
    ) async {
        do {
            let value = try await work()
            Issue.record("expected \(code), got \(value)", sourceLocation: sourceLocation)
        } catch let error as RemoteError {
            #expect(error.code == code, "\(error.message)", sourceLocation: sourceLocation)
            #expect(!error.message.isEmpty && !error.message.contains("\n"), sourceLocation: sourceLocation)
        } catch {
            Issue.record("expected \(code), got \(error)", sourceLocation: sourceLocation)
        }
    }
}
