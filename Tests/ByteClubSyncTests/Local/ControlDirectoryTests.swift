import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubSync

/// What is left in a folder that is a mirror no more.
@Suite struct ControlDirectoryTests {
    private let directory: TemporaryDirectory
    private let root: any DiskFolder

    init() throws {
        directory = try TemporaryDirectory()
        root = try LinuxDisk(directory.path).openRoot()
    }

    /// A control directory with an unfinished download.
    private func withDownload() throws -> ControlDirectory {
        let control = try ControlDirectory(in: root)
        try control.setMarker("one")
        let folder = try control.staging.subfolder(StagedName.downloading(ItemID(7), ContentHasher.hash([1])).text)
        for name in [StagedTransfers.content, StagedTransfers.journal] { try folder.create(name).write([1, 2, 3]) }
        return control
    }

    @Test("an unfinished download goes with the mirror, and nothing is left")
    func unfinished() throws {
        _ = try withDownload()
        #expect(try !ControlDirectory.remove(from: root))
        #expect(try root.list().isEmpty)
    }

    @Test("a file of the member's that was on its way to the trash stays, whatever was unfinished")
    func displaced() throws {
        let control = try withDownload()
        let name = StagedName.trashing(ItemID(8), expected: nil).text
        try control.staging.create(name).write([4])
        #expect(try ControlDirectory.remove(from: root))
        #expect(try control.staging.list().map(\.name) == [name])
    }
}
