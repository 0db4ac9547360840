import Testing

@testable import ByteClubSync

@Suite("A file's fingerprint") struct FingerprintTests {
    private static func fingerprint(modified: Int64, changed: Int64) -> FileFingerprint {
        FileFingerprint(device: 1, inode: 2, size: 3, modified: modified, changed: changed)
    }

    @Test("shows the same content after a rename, but not by a date that is yet to come")
    func sameContent() {
        for (modified, isSame) in [(Int64(-1), true), (5, true), (100, true), (101, false), (4_102_444_800, false)] {
            let known = Self.fingerprint(modified: modified, changed: 100)
            let renamed = Self.fingerprint(modified: modified, changed: 5_000_000_000)
            #expect(renamed.isSameContent(as: known) == isSame, "\(modified)")
            #expect(known.isSameContent(as: known) && known.isUntouched(since: known))
            #expect(!renamed.isUntouched(since: known))
        }
    }
}
