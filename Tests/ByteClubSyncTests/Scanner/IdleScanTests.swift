import CLinux
import Glibc
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// What an idle scan costs, beside a bare walk that stats every entry.
@Suite(.serialized) struct IdleScanTests {
    @Test("an idle scan of many files lists no folder")
    func idle() throws {
        let directory = try TemporaryDirectory(in: "/dev/shm")
        let (folders, files) = (1_000, 100)
        for folder in 0..<folders {
            let path = directory.path + "/folder \(folder)"
            unsafe mkdir(path, 0o777)
            for file in 0..<files { close(unsafe byteclub_open(path + "/file \(file)", O_CREAT | O_WRONLY, 0o666)) }
        }
        usleep(60_000)
        let disk = LinuxDisk(directory.path)
        let store = MemoryTreeStore()
        for folder in 0..<folders {
            let fingerprint = try disk.openRoot().folder("folder \(folder)").listingFingerprint()
            store.setListing(
                KnownListing(high: fingerprint.high, low: fingerprint.low, folders: []), of: ItemID(Int64(folder + 1)))
        }
        let fingerprint = try disk.openRoot().listingFingerprint()
        let listed = (0..<folders).map { ListedFolder(item: ItemID(Int64($0 + 1)), name: "folder \($0)") }
        store.setListing(KnownListing(high: fingerprint.high, low: fingerprint.low, folders: listed), of: .root)
        var best = (walk: Duration.seconds(9), scan: Duration.seconds(9))
        let scanner = Scanner(root: try disk.openRoot(), store: store)
        for _ in 0..<5 {
            best.walk = min(best.walk, ContinuousClock().measure { #expect(BareWalk.count(directory.path) == 101_000) })
            best.scan = min(
                best.scan,
                try ContinuousClock().measure {
                    let report = try scanner.scan(.everything, confirmsDeletions: true)
                    #expect(report.folders == 1_001 && report.listed == 0)
                })
        }
        print("idle scan of 100,000 files: \(best.scan); bare walk with lstat: \(best.walk)")
    }
}
