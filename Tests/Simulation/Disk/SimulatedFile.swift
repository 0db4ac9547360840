import ByteClubCore
import Glibc

@testable import ByteClubSync

/// An open file of a simulated disk, for the engine.
final class SimulatedFile: DiskFile, @unchecked Sendable {
    // Invariant: as the disk.

    private let disk: SimulatedDisk
    private let node: SimulatedNode
    private let epoch: Int

    init(_ disk: SimulatedDisk, _ node: SimulatedNode) {
        self.disk = disk
        self.node = node
        epoch = disk.epoch
        disk.open += 1
        disk.opened += 1
        path = disk.hasPaths ? "\(SimulatedDisk.pathPrefix)-file/\(disk.opened)" : nil
        if let path { disk.paths[path] = SimulatedDisk.WeakFile(file: self) }
    }

    deinit {
        disk.open -= 1
        if let path { disk.paths[path] = nil }
    }

    func stat() throws(FileError) -> FileStat {
        try disk.enter(.statFile, nil, "", epoch: epoch)
        return disk.stat(node)
    }

    func read(into buffer: inout [UInt8], at offset: Int64) throws(FileError) -> Int {
        try disk.enter(.read, nil, "", epoch: epoch)
        let start = min(Int(clamping: offset), node.content.count)
        let count = min(buffer.count, node.content.count - start)
        buffer.replaceSubrange(0..<count, with: node.content[start..<(start + count)])
        return count
    }

    func write(_ bytes: [UInt8]) throws(FileError) {
        try disk.enter(.write, nil, "", epoch: epoch)
        if disk.space < bytes.count {
            // What fits is written, as a real disk does.
            let fitting = max(0, Int(disk.space))
            disk.fill(node, node.content + bytes.prefix(fitting))
            disk.space = 0
            throw FileError(operation: "write", path: "", code: ENOSPC)
        }
        disk.space -= Int64(bytes.count)
        disk.fill(node, node.content + bytes)
    }

    func setModified(_ time: FileTime) throws(FileError) {
        try disk.enter(.setTime, nil, "", epoch: epoch)
        // A coarse file system keeps whole ticks.
        let tick = disk.granularity % 1_000_000_000 == 0 ? disk.granularity : 1
        (node.modified, node.changed) = (time.nanoseconds / tick * tick, disk.stamp)
    }

    func setExecutable(_ isExecutable: Bool) throws(FileError) -> Bool {
        try disk.enter(.setMode, nil, "", epoch: epoch)
        if node.isExecutable == isExecutable { return false }
        (node.isExecutable, node.changed) = (isExecutable, disk.stamp)
        return true
    }

    func sync() throws(FileError) {
        try disk.enter(.syncFile, nil, "", epoch: epoch)
        node.durableContent = node.content
        node.isContentDurable = true
    }

    var isBeingWritten: Bool { disk.knowsWriters && node.writers > 0 }

    let path: String?
}
