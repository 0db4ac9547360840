import ByteClubCore
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// What is kept of files between reading and sending.
@Suite struct FileReaderTests {
    @Test("a content that is kept again takes no more room than once")
    func keptAgain() throws {
        let scene = MachineScene()
        let context = try scene.context()
        let reader = FileReader(context, Scanner(root: context.root, store: context.store))
        let keep = { (id: ItemID, size: Int) -> LocalState in
            let bytes = [UInt8](repeating: UInt8(id.number), count: size)
            let local = LocalState(
                location: Location(.root, EntryName("\(id.number)")), isFolder: false, size: Int64(size), stat: nil)
            var known = local
            known.hash = ContentHasher.hash(bytes)
            reader.keep(id, FileReader.Content(bytes: bytes, hash: ContentHasher.hash(bytes), local: known))
            return known
        }
        for _ in 0..<20 { _ = keep(ItemID(1), 1 << 20) }
        let other = keep(ItemID(2), 8 << 20)
        var report = SyncReport()
        // There is no such file on the disk: it can only be the kept content.
        #expect(try reader.note(ItemID(2), other, &report)?.count == 8 << 20)
    }
}
