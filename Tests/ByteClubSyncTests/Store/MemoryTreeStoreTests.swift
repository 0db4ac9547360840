import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

@Suite struct MemoryTreeStoreTests {
    @Test("the store in memory keeps trees as every store does", arguments: StoreConformance.all)
    func conforms(claim: StoreConformance) throws {
        let store = MemoryTreeStore()
        try claim.check(store)
        store.close()
    }

    @Test("the store in memory does what the plainest model does, whatever the sequence", arguments: 1...40)
    func random(seed: UInt64) throws {
        let store = MemoryTreeStore()
        var run = StoreRun(seed: seed, on: store) { _ in
            store.close()
            store.reopen()
            return store
        }
        try run.run(steps: 150)
    }
}
