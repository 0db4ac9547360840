import CLinux
import Glibc

extension LinuxFolder {
    /// The suffix of the temporary name of one entry while two are exchanged in several steps.
    ///
    /// A crash may leave it: it is then the entry that was at the exchange's target.
    static let temporarySuffix = ".aside"

    func rename(
        _ name: String, to folder: any DiskFolder, _ newName: String, _ mode: RenameMode
    ) throws(FileError) {
        guard let folder = folder as? LinuxFolder else {
            throw FileError(operation: "rename", path: descriptor.path + "/" + name, code: EXDEV)
        }
        let (limit, flag) =
            mode == .exchanging
            ? (LinuxDisk.Limits.exchange, byteclub_rename_exchange)
            : (LinuxDisk.Limits.noReplace, byteclub_rename_noreplace)
        if !limits.known.contains(limit) {
            do {
                return try descriptor.rename(name, to: folder.descriptor, newName, flag)
            } catch {
                // EINVAL also means that a folder would be moved into itself, which a plain rename refuses as well.
                guard error.code == EINVAL || error.code == ENOSYS else { throw error }
                if try isIntoItself(name, folder) { throw error }
                limits.add(limit)
            }
        }
        switch mode {
        case .withoutReplacing: try renameByLink(name, to: folder, newName)
        case .exchanging: try exchangeBySteps(name, with: folder, newName)
        }
    }

    /// Whether an entry is a folder that contains the other.
    private func isIntoItself(_ name: String, _ folder: LinuxFolder) throws(FileError) -> Bool {
        guard let moved = try descriptor.status(of: name), moved.mode & S_IFMT == S_IFDIR else { return false }
        var above = folder.descriptor
        while true {
            let status = try above.status()
            if status.inode == moved.inode, status.device == moved.device { return true }
            let next = try above.directory("..")
            let parent = try next.status()
            if parent.inode == status.inode, parent.device == status.device { return false }
            above = next
        }
    }

    /// A file gets the new name before it loses the old one; a folder replaces an empty one made for it.
    private func renameByLink(_ name: String, to folder: LinuxFolder, _ newName: String) throws(FileError) {
        guard let status = try descriptor.status(of: name) else { throw failure(ENOENT, name) }
        if status.mode & S_IFMT == S_IFDIR {
            try folder.descriptor.makeDirectory(newName)
            do {
                try descriptor.rename(name, to: folder.descriptor, newName)
            } catch {
                try? folder.descriptor.removeDirectory(newName)
                throw error
            }
            return
        }
        if unsafe linkat(descriptor.number, name, folder.descriptor.number, newName, 0) == 0 {
            let linked = try folder.descriptor.status(of: newName)
            let left = try descriptor.status(of: name)
            // Somebody may have put another file there meanwhile: then it stays.
            if let linked, let left, linked.inode == left.inode { try descriptor.remove(name) }
            return
        }
        let code = errno
        guard code == EPERM || code == EOPNOTSUPP || code == ENOSYS || code == EMLINK else { throw failure(code, name) }
        if try folder.descriptor.status(of: newName) != nil { throw failure(EEXIST, name) }
        try descriptor.rename(name, to: folder.descriptor, newName)
    }

    /// Moves the entry at the target to a temporary name in this folder, then the other to the target, then the first
    /// to the other's name.
    private func exchangeBySteps(_ name: String, with folder: LinuxFolder, _ newName: String) throws(FileError) {
        let temporary = name + Self.temporarySuffix
        try folder.rename(newName, to: self, temporary, .withoutReplacing)
        do {
            try rename(name, to: folder, newName, .withoutReplacing)
        } catch {
            try? rename(temporary, to: folder, newName, .withoutReplacing)
            throw error
        }
        try rename(temporary, to: self, name, .withoutReplacing)
    }

    private func failure(_ code: Int32, _ name: String) -> FileError {
        FileError(operation: "rename", path: descriptor.path + "/" + name, code: code)
    }
}
