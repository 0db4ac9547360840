import ByteClubCore
import Glibc

/// Resolves a conflict by changing files in the mirror; the next sync uploads the result.
///
/// The other content is moved to the mirror's trash. A file keeps its identity and its history: the chosen content
/// replaces it as an editor's save would. Where one of both is a folder, the copy gets the name by a rename. A crash
/// leaves either the conflict as it was, or the resolved file with the copy still beside it, or the copy alone, which
/// gets the name when the conflict is settled again.
struct ConflictResolution {
    let disk: any Disk
    private let root: any DiskFolder
    private let control: ControlDirectory
    private static let chunk = 1 << 18

    init(_ disk: any Disk) throws(FileError) {
        self.disk = disk
        root = try disk.openRoot()
        control = try ControlDirectory(in: root)
    }

    /// Keeps one content or both.
    func settle(_ conflict: SyncStatus.Conflict, keeping side: ConflictSide) throws {
        let copy = try slot(conflict.copy)
        let found = try copy.folder.entry(copy.name)
        switch side {
        case .both: return
        case .theirs:
            if found == nil { return }
        case .mine:
            guard let found, found.kind == .file || found.kind == .folder else {
                throw SyncError(
                    .io, "the conflict copy '\(conflict.copy)' is gone; use 'both' to keep everything as it is")
            }
            let holder = try slot(conflict.entry)
            guard try found.kind == .file && holder.folder.entry(holder.name)?.kind != .folder else {
                return try rename(copy, over: holder, conflict)
            }
            try replace(conflict.entry) { staged throws(FileError) in try self.copy(copy, to: staged) }
        }
        try moveToTrash(copy, as: conflict.copy)
    }

    /// Gives a copy the name that the conflict was about; what has it is moved to the trash.
    private func rename(_ copy: Slot, over holder: Slot, _ conflict: SyncStatus.Conflict) throws {
        if try holder.folder.entry(holder.name) != nil { try moveToTrash(holder, as: conflict.entry) }
        let name = try slot(conflict.path).name
        try copy.folder.rename(copy.name, to: holder.folder, name, .withoutReplacing)
        try holder.folder.sync()
        try copy.folder.sync()
    }

    /// Replaces a file by earlier bytes, or removes it when there were none; the replaced file is moved to the trash.
    func restore(_ path: String, to bytes: [UInt8]) throws {
        let target = try slot(path)
        guard !bytes.isEmpty else {
            if try target.folder.entry(target.name) != nil { try moveToTrash(target, as: path) }
            return
        }
        try replace(path) { staged throws(FileError) in
            let made = try staged.folder.create(staged.name)
            try made.write(bytes)
            _ = try staged.folder.takeAccess(staged.name, from: target.name, in: target.folder)
            try made.sync()
        }
    }

    private typealias Slot = (folder: any DiskFolder, name: String)

    private func slot(_ path: String) throws(FileError) -> Slot {
        let (parent, name) = LocalPath.split(path)
        if name.isEmpty { throw FileError(operation: "open", path: path, code: EISDIR) }
        return (try root.folder(below: parent), name)
    }

    /// Replaces a file by what `write` writes; the replaced file is moved to the trash.
    private func replace(_ path: String, _ write: (Slot) throws(FileError) -> Void) throws {
        let target = try slot(path)
        // The recovery of an engine that runs meanwhile would take it for something that a crash has left in staging.
        let staging = control.top
        let staged = "resolve-" + String(ContentHasher.hash(Array(path.utf8)).description.prefix(16))
        if try staging.entry(staged) != nil { try moveToTrash((staging, staged), as: path) }
        try write((staging, staged))
        guard let found = try target.folder.entry(target.name) else {
            try staging.rename(staged, to: target.folder, target.name, .withoutReplacing)
            return try target.folder.sync()
        }
        guard found.kind == .file else {
            try staging.removeFile(staged)
            throw SyncError(.io, "'\(path)' is not a file; resolve the conflict by hand and use 'both'")
        }
        try staging.rename(staged, to: target.folder, target.name, .exchanging)
        try target.folder.sync()
        try moveToTrash((staging, staged), as: path)
    }

    private func copy(_ source: Slot, to target: Slot) throws(FileError) {
        let file = try source.folder.open(source.name)
        let made = try target.folder.create(target.name)
        var offset: Int64 = 0
        while true {
            var buffer = [UInt8](repeating: 0, count: Self.chunk)
            let count = try file.read(into: &buffer, at: offset)
            if count == 0 { break }
            try made.write(count == buffer.count ? buffer : Array(buffer.prefix(count)))
            offset += Int64(count)
        }
        _ = try target.folder.takeAccess(target.name, from: source.name, in: source.folder)
        try made.sync()
    }

    /// Moves a file to today's trash under its own path, with a number appended if that exists.
    private func moveToTrash(_ slot: Slot, as path: String) throws(FileError) {
        try control.trash.take(slot.name, from: slot.folder, as: path, at: disk.now())
        try slot.folder.sync()
    }
}
