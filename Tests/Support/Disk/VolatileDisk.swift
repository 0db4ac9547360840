import Glibc

/// A file system on a disk whose power can be cut: what it was not told to flush is lost, or a part of it.
///
/// It is a journaled ext4 image, looped over `Tests/Tools/volatile-disk`; so it needs root and FUSE.
public final class VolatileDisk: Sendable {
    /// Why there is no such disk.
    public struct DiskError: Error, CustomStringConvertible {
        /// What failed.
        public let description: String
    }

    /// Where the file system is mounted.
    public let path: String
    private let image: String
    private let fuse: String
    private let device: SpawnedProcess

    /// Makes an image with an empty file system.
    public static func format(_ image: String, mebibytes: Int) async throws {
        try await run("truncate", ["-s", "\(mebibytes)M", image])
        try await run("mkfs.ext4", ["-q", "-F", image])
    }

    /// Mounts an image.
    ///
    /// - Parameters:
    ///   - image: An ext4 file system in a file.
    ///   - folder: Where to make the two mount points.
    ///   - keep: Which part of the blocks that nobody flushed reach the image all the same.
    /// - Throws: ``DiskError`` when this machine or user cannot.
    public init(_ image: String, in folder: String, keep: Double) async throws {
        self.image = image
        fuse = folder + "/device"
        path = folder + "/disk"
        for directory in [fuse, path] { unsafe mkdir(directory, 0o700) }
        device = try Program.start(
            Fixture.projectRoot + "/Tests/Tools/volatile-disk", [image, fuse, "\(keep)"], timeout: .seconds(3600))
        let clock = ContinuousClock()
        let end = clock.now + .seconds(10)
        while unsafe access(fuse + "/disk", F_OK) != 0 {
            guard clock.now < end, !device.hasEnded else {
                device.kill9()
                throw DiskError(description: "the disk did not appear: \(await device.result())")
            }
            try await clock.sleep(for: .milliseconds(5))
        }
        do {
            try await Self.run("mount", ["-o", "loop,noatime", fuse + "/disk", path])
        } catch {
            device.kill9()
            _ = await device.result()
            _ = try? await Self.run("umount", ["-l", fuse])
            throw error
        }
    }

    /// Takes the power away; the file system's users find it failing.
    public func cut() async throws {
        device.kill9()
        _ = await device.result()
        try await Self.run("umount", ["-l", path])
        try await Self.run("umount", ["-l", fuse])
    }

    /// Whether this machine and user can have such a disk.
    public static var isPossible: Bool {
        let needed = ["/dev/fuse", "/dev/loop-control", "/usr/lib/python3/dist-packages/fusepy.py"]
        return getuid() == 0 && Program.system("mkfs.ext4") != nil && needed.allSatisfy { unsafe access($0, R_OK) == 0 }
    }

    private static func run(_ name: String, _ arguments: [String]) async throws {
        guard let program = Program.system(name) else { throw DiskError(description: "no program '\(name)'") }
        let result = try await Program.run(program, arguments)
        guard result.status == 0 else { throw DiskError(description: "\(result)") }
    }
}
