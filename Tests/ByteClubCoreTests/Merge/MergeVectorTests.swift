import Glibc
import TestSupport
import Testing

@Suite("The vectors of the page's merge")
struct MergeVectorTests {
    @Test("the vectors that the page's script is checked with are those of Swift's merge")
    func recorded() throws {
        let vectors = MergeVectors(seed: 20_261_129, count: 500)
        print("merge vectors: seed \(vectors.seed)")
        let path = Fixture.path("merge/vectors.json")
        if unsafe getenv("BYTECLUB_RECORD") != nil { try LocalFiles.write(vectors.json, to: path) }
        let recorded = Fixture.text(Fixture.bytes(at: path))
        let isSame = recorded == vectors.json
        #expect(isSame, "run with BYTECLUB_RECORD=1 to record")
        let conflicts = vectors.vectors.count { $0.merged == nil }
        #expect((100...400).contains(conflicts), "\(conflicts) conflicts show one half of it alone")
    }
}
