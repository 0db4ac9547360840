import ByteClubCore
import CLinux
import Glibc
import MemoryRemote
import Testing

@testable import ByteClubSync

/// Dates of files beyond what everybody can keep.
@Suite struct DateTests {
    /// When a file was last written, in seconds since 1970.
    private func modified(_ path: String, _ device: Device) -> Int64 {
        var status = stat()
        return unsafe lstat(device.root + "/" + path, &status) == 0 ? Int64(status.st_mtim.tv_sec) : 0
    }

    /// The years 1, 1601, 2400 and 9999.
    @Test(
        "a date that cannot be sent is left out and told, and keeps nothing else from being synced",
        arguments: [true, false],
        [-62_135_596_800, -11_644_473_600, 13_569_465_600, 253_402_300_799] as [Int64])
    func beyond(usesExtension: Bool, date: Int64) async throws {
        let remote = MemoryRemote()
        let device = try Device(remote, in: FastDisk.path, usesExtension: usesExtension)
        let other = try Device(remote, in: FastDisk.path, usesExtension: usesExtension)
        for name in ["a.md", "dated.md", "z.md"] { device.write(name, name) }
        device.setModified("dated.md", date)
        // A disk that has no such date keeps another, which is nobody's fault here.
        let isKept = modified("dated.md", device) == date
        #expect(try await device.sync().isComplete)
        #expect(try await device.sync().uploaded == 0)
        #expect(try await other.sync().isComplete)
        #expect(other.files() == device.files())
        guard isKept else { return }
        #expect(device.log.paths(.problem) == ["dated.md"])
        #expect(modified("dated.md", device) == date)
        // The other has it since it came, by its own clock or by the server's.
        let times = [Int64(time(nil)), 1_375_780_500]
        #expect(times.contains { abs(modified("dated.md", other) - $0) < 86_400 })
        device.write("dated.md", "edited")
        device.setModified("dated.md", date)
        #expect(try await device.sync().uploaded == 1)
        #expect(try await remote.text("dated.md") == "edited")
    }

    @Test("a date that can be sent is kept where the disk has it, and replaced by no other where it has not")
    func within() async throws {
        let remote = MemoryRemote()
        let other = try Device(remote, in: FastDisk.path)
        // The years 1700 and 2261.
        for (name, date) in [("old.md", -8_520_336_000), ("new.md", 9_183_110_400)] as [(String, Int64)] {
            let path = try RemotePath("/byteclub/" + name)
            _ = try await remote.put(
                .bytes([1]), at: path, modified: FileTime(seconds: date), executable: nil, condition: .overwrite,
                policy: .fail, progress: nil)
        }
        #expect(try await other.sync().isComplete)
        for (name, date) in [("old.md", -8_520_336_000), ("new.md", 9_183_110_400)] as [(String, Int64)] {
            let here = modified(name, other)
            let isTold = other.log.paths(.problem).contains(name)
            #expect(here == date ? !isTold : isTold && abs(here - Int64(time(nil))) < 86_400)
        }
        #expect(FileTime(seconds: -8_520_336_000)?.isKept(as: -2_147_483_648_000_000_000) == false)
    }
}
