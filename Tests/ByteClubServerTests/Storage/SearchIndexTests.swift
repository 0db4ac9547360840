import ByteClubCore
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The search index")
struct SearchIndexTests {
    @Test("A step that was made of what is no longer in the index is not done, and made anew")
    func staleStep() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        try await fixture.put("/a.md", Array("one needle".utf8))
        while try await store.indexTexts() == nil {}
        try await fixture.put("/a.md", Array("another straw".utf8))
        let step = try await store.pool.read { try SearchIndex(database: $0, files: store.files).step() }
        let document = try #require(step.old.first)
        // As housekeeping takes out a text that history keeps no longer.
        try await store.pool.write { database in
            let index = SearchIndex(database: database, files: store.files)
            #expect(try index.has(document))
            var without = document
            try index.remove(document)
            (without.hash, without.words) = (nil, "")
            try index.add(without)
            #expect(try !index.has(document) && index.has(without))
            #expect(try !index.perform(step))
        }
        while try await store.indexTexts() == nil {}
        #expect(try await Verifier(directory: fixture.directory.path).run().findings == [])
    }
}
