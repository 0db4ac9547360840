import ByteClubCore
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

/// How often the database is asked for what a page shows.
@Suite struct StatementCountTests {
    /// The queries of a table that some reading work runs.
    private static func queries(
        of table: String, _ store: SQLiteStore, _ work: @escaping @Sendable () async throws -> Void
    ) async throws -> Int {
        let lines = LogLines()
        try await eventually("a connection that is looked at does the work") {
            try await store.pool.read { database in database.trace { lines.add($0.description) } }
            try await work()
            return lines.all.contains { $0.contains(table) }
        }
        return lines.all.count { $0.contains(table) }
    }

    @Test("what is known of many photos is found with one query, and what is not known is left out")
    func mediaInfo() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let known = Dictionary(
            uniqueKeysWithValues: (0..<100).map { number in
                let place = MediaInfo.Place(latitude: 50, longitude: Double(number))
                return (
                    ContentHasher.hash([1, UInt8(number)]),
                    MediaInfo(taken: TakenTime(clock: APIDate(seconds: 7)), place: place)
                )
            })
        try await store.keep(known)
        let hashes = Array(known.keys) + (0..<9).map { ContentHasher.hash([2, $0]) } + known.keys.prefix(3)
        #expect(try await store.mediaInfo(of: hashes) == known)
        #expect(try await store.mediaInfo(of: []).isEmpty)
        #expect(try await store.withoutPhotos(hashes) == hashes)
        let count = try await Self.queries(of: "media_info", store) { _ = try await store.mediaInfo(of: hashes) }
        #expect(count == 1)
    }

    @Test("the captions of many photos are found with one query, whatever their names are")
    func captions() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let names = ["a.jpg", "\"b'.jpg", "c d.png", "é.jpeg", "none.jpg"]
        for name in names.dropLast() {
            try await fixture.put("/p/\(name)", [1])
            try await fixture.put("/p/\(name).md", Array(name.utf8))
        }
        let keys = try names.map { try RemotePath("/p/\($0)").key }
        let found = try await store.captions(of: keys)
        #expect(found == Dictionary(uniqueKeysWithValues: zip(keys, names).dropLast().map { ($0, Array($1.utf8)) }))
        let count = try await Self.queries(of: "content", store) { _ = try await store.captions(of: keys) }
        #expect(count == 1)
    }
}
